"""Stands in for mlx-lm 0.32 where that cannot run: the same names, arguments and results.

Its model says what its folder tells it to: `says` in config.json; `@read` for all that it has in
its cache, as text. Tokens are bytes, and a few more that order a conversation.
"""

import json
from pathlib import Path

from .generate import stream_generate
from .tokenizer_utils import TokenizerWrapper

__all__ = ["load", "stream_generate"]


class Model:
    """Continues the last answer in its cache with the next token of what it is to say."""

    def __init__(self, config, tokenizer):
        self.config = config
        self.layers = [None, None]
        self._tokenizer = tokenizer

    def next(self, tokens):
        """Candidates for the next token, the likeliest first."""
        tokenizer = self._tokenizer
        begin = len(tokens) - tokens[::-1].index(tokenizer.ANSWER)
        if self.config["says"] == "@read":
            says = tokenizer.decode(tokens[:begin])
        else:
            says = self.config["says"]
        script = list(says.encode())  # what orders a conversation, it only spells
        at = len(tokens) - begin
        if self.config.get("fails_at") == at:
            raise RuntimeError("[metal::malloc] Attempting to allocate too much")
        token = script[at] if at < len(script) else tokenizer.eos_token_id
        return [token, ord("?")]


def load(
    path_or_hf_repo,
    tokenizer_config=None,
    model_config=None,
    adapter_path=None,
    lazy=False,
    return_config=False,
    revision=None,
    trust_remote_code=False,
):
    folder = Path(path_or_hf_repo)
    if not (folder / "config.json").exists():
        raise FileNotFoundError(f"{path_or_hf_repo} is not a local folder, and the hub is offline")
    if trust_remote_code:
        raise AssertionError("code of a model must not be run")
    config = json.loads((folder / "config.json").read_text())
    tokenizer = TokenizerWrapper(config)
    model = Model(config, tokenizer)
    return (model, tokenizer, config) if return_config else (model, tokenizer)
