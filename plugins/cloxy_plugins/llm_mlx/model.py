"""A conversation in, an answer out: one model of mlx-lm."""

import secrets
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import mlx.core as mx  # noqa: TID253 - this module is imported in the model's process only
from mlx_lm import stream_generate
from mlx_lm.generate import generate_step
from mlx_lm.models.cache import can_trim_prompt_cache, make_prompt_cache, trim_prompt_cache
from mlx_lm.sample_utils import make_sampler

from cloxy_hookspecs import (
    ChatDelta,
    ChatRequest,
    ContextTooLongError,
    FinishReason,
    ModelInfo,
    TokenUsage,
    UnsupportedModelError,
)
from cloxy_hookspecs.models.answers import Slices, TextPieces, told
from cloxy_hookspecs.models.conversations import tools_of, without_unused
from cloxy_plugins.llm_mlx.calls import CallReader
from cloxy_plugins.llm_mlx.template import ChatTemplate, Tokenizer

FIRST_SLICE: Final = 128
MOST_SLICE: Final = 2048
"""Tokens of a conversation that are read at a time, in the beginning and at most."""
TEMPERATURE: Final = 0.8
TOP_P: Final = 0.95
_SEED_BITS: Final = 64


class MLXModel:
    """Answers with one model; what it has read stays for the next conversation with that start."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - a module of mlx
        tokenizer: Tokenizer,
        template: ChatTemplate,
        *,
        name: str,
        context: int,
        created: int,
    ) -> None:
        """Take a loaded model.

        Args:
            model: the model.
            tokenizer: its tokenizer.
            template: its chat template.
            name: its name, for people.
            context: tokens of conversation and answer together.
            created: when its files were written, seconds since the epoch.
        """
        self._model = model
        self._tokenizer = tokenizer
        self._template = template
        self._name = name
        self._context = context
        self._created = created
        self._slices = Slices(FIRST_SLICE)
        self._cache: list[Any] | None = None
        self._known: list[int] = []

    @property
    def info(self) -> ModelInfo:
        """What is known of it."""
        return ModelInfo(
            id=self._name,
            backend="",
            context_tokens=self._context,
            tools=self._template.calls is not None,
            response_format=False,
            alternates=self._template.alternates,
            created=self._created,
        )

    def count(self, request: ChatRequest) -> int:
        """Tokens of a conversation.

        Raises:
            UnsupportedModelError: the template does not take it.
        """
        return len(self._template.tokens(without_unused(request)))

    def generate(self, request: ChatRequest) -> Iterator[ChatDelta]:
        """Answer; a delta without anything while the conversation is read.

        Raises:
            UnsupportedModelError: the model cannot do what is asked.
            ContextTooLongError: the conversation does not fit.
        """
        request = without_unused(request)
        self._check(request)
        tokens = self._template.tokens(request)
        if len(tokens) >= self._context:
            raise ContextTooLongError(
                f"the conversation has {len(tokens):,} tokens, the model's context "
                f"{self._context:,}",
                hint="start a new conversation, or give the model more context with `cloxy init`",
            )
        seed = secrets.randbits(_SEED_BITS) if request.seed is None else request.seed
        mx.random.seed(seed % 2**_SEED_BITS)
        cache, cached = self._reuse(tokens)
        read = list(tokens[:cached])
        try:
            for piece in self._read(tokens, cached, cache):
                read += piece
                yield ChatDelta()
            yield from self._answer(request, tokens, cache, read, cached)
        except GeneratorExit:
            self._cache, self._known = cache, read
            raise
        self._cache, self._known = cache, read

    def _check(self, request: ChatRequest) -> None:
        if request.response_format is not None:
            raise UnsupportedModelError(
                "mlx-lm cannot hold an answer to a form",
                hint="ask without response_format, or use a GGUF model",
            )
        if not request.tools:
            return
        if self._template.calls is None:
            raise UnsupportedModelError(
                f"the model {self._name!r} takes no tools: its chat template knows none",
                hint="choose a model that takes tools (Qwen, Llama 3.1) with `cloxy init`, or ask "
                "without them",
            )
        if request.tool_choice.mode != "auto":
            raise UnsupportedModelError(
                "mlx-lm cannot make a model call a tool", hint="ask with tool_choice auto"
            )

    def _reuse(self, tokens: list[int]) -> tuple[list[Any], int]:
        """What was read of an earlier conversation with the same start, and its tokens.

        It is no longer kept then, until it is known that all went well.
        """
        cache, known = self._cache, self._known
        self._cache, self._known = None, []
        # At least one token is left: an answer begins with reading one.
        same = _common(known, tokens[:-1])
        if cache is not None and same:
            surplus = len(known) - same
            if not surplus:
                return cache, same
            if can_trim_prompt_cache(cache) and trim_prompt_cache(cache, surplus) == surplus:
                return cache, same
        return make_prompt_cache(self._model), 0

    def _read(self, tokens: list[int], start: int, cache: list[Any]) -> Iterator[list[int]]:
        """Read all but the last token; comes up for air after each slice."""
        while start < len(tokens) - 1:
            piece = tokens[start : min(start + self._slices.size, len(tokens) - 1)]
            began = time.monotonic()
            # No token is made: the slice goes into the cache, and that is all.
            for _ in generate_step(mx.array(piece), self._model, max_tokens=0, prompt_cache=cache):
                pass
            self._slices.took(time.monotonic() - began, most=MOST_SLICE)
            start += len(piece)
            yield piece

    def _answer(
        self,
        request: ChatRequest,
        tokens: list[int],
        cache: list[Any],
        read: list[int],
        cached: int,
    ) -> Iterator[ChatDelta]:
        pieces, calls = TextPieces(request.stop), self._call_reader(request)
        finish: FinishReason = "length"
        count = 0
        with closing(self._made(request, tokens, cache)) as made:
            read += tokens[len(tokens) - 1 :]
            for response in made:
                read.append(int(response.token))  # it went into the cache before it was told
                count = int(response.generation_tokens)
                yield from told(pieces.feed(response.text), calls)
                if pieces.stopped or response.finish_reason == "stop":
                    finish = "stop"
                    break
        yield from told(pieces.end(), calls)
        if calls is not None:
            yield from calls.end()
            if calls.count and finish == "stop":
                finish = "tool_calls"
        yield ChatDelta(finish=finish, usage=TokenUsage(len(tokens), count, cached))

    def _made(self, request: ChatRequest, tokens: list[int], cache: list[Any]) -> Any:  # noqa: ANN401 - a generator of the library
        temperature = TEMPERATURE if request.temperature is None else request.temperature
        top_p = TOP_P if request.top_p is None else request.top_p
        return stream_generate(
            self._model,
            self._tokenizer,
            tokens[-1:],
            max_tokens=min(request.max_tokens, self._context - len(tokens)),
            sampler=make_sampler(temp=temperature, top_p=top_p),
            prompt_cache=cache,
        )

    def _call_reader(self, request: ChatRequest) -> CallReader | None:
        if not request.tools or self._template.calls is None:
            return None
        names = [tool.name for tool in request.tools]
        return CallReader(self._template.calls, names, tools_of(request))


def _common(known: list[int], tokens: list[int]) -> int:
    """Tokens that two lists have in common at their beginning."""
    same = 0
    for one, other in zip(known, tokens, strict=False):
        if one != other:
            break
        same += 1
    return same
