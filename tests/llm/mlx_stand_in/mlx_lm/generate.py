"""Stands in for `mlx_lm.generate`: what it feeds into a cache, and when, is as there."""

import time
from dataclasses import dataclass

import mlx.core as mx  # noqa: TID253 - the stand-in's own

from .models.cache import make_prompt_cache
from .sample_utils import make_sampler


@dataclass
class GenerationResponse:
    text: str
    token: int
    logprobs: mx.array
    from_draft: bool
    prompt_tokens: int
    prompt_tps: float
    generation_tokens: int
    generation_tps: float
    peak_memory: float
    finish_reason: str | None = None


def generate_step(
    prompt,
    model,
    stream=None,
    *,
    max_tokens=256,
    sampler=None,
    logits_processors=None,
    max_kv_size=None,
    prompt_cache=None,
    prefill_step_size=2048,
    kv_bits=None,
    kv_group_size=64,
    quantized_kv_start=5000,
    prompt_progress_callback=None,
    input_embeddings=None,
):
    if not isinstance(prompt, mx.array):
        raise TypeError("prompt[None]: not an array")
    if len(prompt) == 0:
        raise ValueError("Either input_embeddings or prompt (or both) must be provided.")
    cache = prompt_cache if prompt_cache is not None else make_prompt_cache(model)
    sampler = sampler or make_sampler()
    time.sleep(model.config.get("seconds_a_token", 0) * len(prompt))

    def step(tokens):
        for layer in cache:
            layer.update(tokens)
        if cache[0].tokens.count(258) == 0:
            return None  # no question yet: the logits are of no use
        try:
            return sampler(model.next(cache[0].tokens))
        except ValueError:
            return None  # within a conversation that is read in slices

    y = step(prompt.values)
    n = 0
    while True:
        if n != max_tokens:
            following = step([y])
        if n == max_tokens:
            break
        time.sleep(model.config.get("seconds_a_token", 0))
        yield y, mx.array([])
        y = following
        n += 1


def stream_generate(
    model, tokenizer, prompt, max_tokens=256, draft_model=None, stream=None, **kwargs
):
    if max_tokens == 0:
        raise ValueError("Maximum number of tokens must be non-zero (use -1 for no limit).")
    if not isinstance(prompt, mx.array):
        prompt = mx.array(prompt)
    detokenizer = tokenizer.detokenizer
    token_generator = generate_step(prompt, model, stream, max_tokens=max_tokens, **kwargs)

    def response(n, token, logprobs, reason):
        return GenerationResponse(
            text=detokenizer.last_segment,
            token=token,
            logprobs=logprobs,
            from_draft=False,
            prompt_tokens=prompt.size,
            prompt_tps=1.0,
            generation_tokens=n + 1,
            generation_tps=1.0,
            peak_memory=0.1,
            finish_reason=reason,
        )

    for n, (token, logprobs) in enumerate(token_generator):
        if token in tokenizer.eos_token_ids:
            break
        detokenizer.add_token(token)
        if (n + 1) == max_tokens:
            break
        yield response(n, token, logprobs, None)
    detokenizer.finalize()
    yield response(n, token, logprobs, "stop" if token in tokenizer.eos_token_ids else "length")
