"""Stands in for `mlx_lm.models.cache`: a cache knows the tokens that were fed into it."""


class KVCache:
    def __init__(self, trimmable):
        self.tokens = []
        self._trimmable = trimmable

    @property
    def offset(self):
        return len(self.tokens)

    def update(self, tokens):
        self.tokens += tokens

    def is_trimmable(self):
        return self._trimmable

    def trim(self, n):
        n = min(self.offset, n)
        del self.tokens[len(self.tokens) - n :]
        return n


def make_prompt_cache(model, max_kv_size=None):
    return [KVCache(model.config.get("trimmable", True)) for _ in model.layers]


def can_trim_prompt_cache(cache):
    return all(c.is_trimmable() for c in cache)


def trim_prompt_cache(cache, num_tokens):
    if not can_trim_prompt_cache(cache) or len(cache) == 0:
        return 0
    trimmed = [c.trim(num_tokens) for c in cache]
    return trimmed[0]
