"""A conversation in, an answer out: one model of llama.cpp."""

import secrets
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import llama_cpp  # noqa: TID253 - this module is imported in the model's process only
from llama_cpp import Llama  # noqa: TID253
from llama_cpp.llama_grammar import LlamaGrammar  # noqa: TID253

from cloxy_hookspecs import (
    ChatDelta,
    ChatRequest,
    ContextTooLongError,
    FinishReason,
    ModelInfo,
    TokenUsage,
    UnsupportedModelError,
)
from cloxy_hookspecs.models.answers import Slices, told
from cloxy_hookspecs.models.conversations import without_unused
from cloxy_plugins.llm_llama_cpp.calls import OPEN, CallReader
from cloxy_plugins.llm_llama_cpp.grammar import grammar_of
from cloxy_plugins.llm_llama_cpp.pieces import BytePieces
from cloxy_plugins.llm_llama_cpp.template import ChatTemplate
from cloxy_plugins.llm_llama_cpp.vocabulary import Vocabulary

FIRST_SLICE: Final = 32
"""Tokens of a conversation that are read at a time, in the beginning."""
TEMPERATURE: Final = 0.8
TOP_P: Final = 0.95
_SEEDS: Final = 0xFFFF_FFFF
"""The last number stands for any seed in llama.cpp."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request, made ready.

    Attributes:
        tokens: of the conversation.
        most: tokens of the longest answer.
        grammar: what holds the answer to its form.
        begun: text that the answer was made to begin with.
    """

    tokens: list[int]
    most: int
    grammar: LlamaGrammar | None
    begun: str


class LlamaModel:
    """Answers with one model; what it has read stays for the next conversation with that start."""

    def __init__(
        self,
        llama: Llama,
        vocabulary: Vocabulary,
        template: ChatTemplate,
        *,
        name: str,
        created: int,
    ) -> None:
        """Take a loaded model.

        Args:
            llama: the model with its context.
            vocabulary: its tokens.
            template: its chat template.
            name: its name, for people.
            created: when its file was written, seconds since the epoch.
        """
        self._llama = llama
        self._vocabulary = vocabulary
        self._template = template
        self._name = name
        self._created = created
        self._slices = Slices(FIRST_SLICE)
        # llama.cpp rounds the context up, and the library keeps no place for what is more.
        self._context = min(llama.n_ctx(), len(llama.input_ids))

    @property
    def info(self) -> ModelInfo:
        """What is known of it."""
        return ModelInfo(
            id=self._name,
            backend="",
            context_tokens=self._context,
            tools=self._template.calls is not None,
            response_format=True,
            alternates=self._template.alternates,
            created=self._created,
        )

    def count(self, request: ChatRequest) -> int:
        """Tokens of a conversation.

        Raises:
            UnsupportedModelError: the template does not take it.
            ContextTooLongError: it is so much too long that counting would take its time.
        """
        return len(self._tokens_of(self._template.render(without_unused(request))))

    def generate(self, request: ChatRequest) -> Iterator[ChatDelta]:
        """Answer; a delta without anything while the conversation is read.

        Raises:
            UnsupportedModelError: the model cannot do what is asked.
            ContextTooLongError: the conversation does not fit.
        """
        request = without_unused(request)
        asked = self._ready(request)
        cached = self._reuse(asked.tokens)
        for _ in self._read(asked.tokens[:-1]):
            yield ChatDelta()
        self._llama.set_seed(
            (secrets.randbits(32) if request.seed is None else request.seed) % _SEEDS
        )
        yield from self._answer(request, asked, cached)

    def _ready(self, request: ChatRequest) -> _Asked:
        if request.tools and self._template.calls is None:
            raise UnsupportedModelError(
                f"the model {self._name!r} takes no tools: its chat template knows none, or writes "
                "calls in a form that is not read here",
                hint="choose a model that takes tools (Qwen, Llama 3.1) with `cloxy init`, or ask "
                "without them",
            )
        if request.tools and request.response_format is not None:
            raise UnsupportedModelError(
                "this back-end holds an answer to a form or lets it call tools, not both",
                hint="ask without response_format, or without tools",
            )
        parts = self._template.render(request)
        grammar = grammar_of(request, self._template.calls, self._vocabulary)
        forced = grammar is not None and request.response_format is None
        begun = f"{OPEN}\n" if forced and self._template.calls == "tagged" else ""
        parts[-1] += begun
        tokens = self._tokens_of(parts)
        if len(tokens) >= self._context:
            raise self._too_long(f"{len(tokens):,}")
        return _Asked(tokens, min(request.max_tokens, self._context - len(tokens)), grammar, begun)

    def _tokens_of(self, parts: Sequence[str]) -> list[int]:
        if (least := self._vocabulary.least(parts)) >= self._context:
            raise self._too_long(f"more than {least:,}")
        return self._vocabulary.tokens(parts)

    def _too_long(self, tokens: str) -> ContextTooLongError:
        return ContextTooLongError(
            f"the conversation has {tokens} tokens, the model's context {self._context:,}",
            hint="start a new conversation, or choose a model with more context with `cloxy init`",
        )

    def _reuse(self, tokens: list[int]) -> int:
        """Keep what was read of an earlier conversation with the same start; its tokens."""
        llama = self._llama
        known = llama.input_ids[: llama.n_tokens].tolist()
        same = int(Llama.longest_token_prefix(known, tokens[:-1]))
        if same < llama.n_tokens:
            memory = llama_cpp.llama_get_memory(llama.ctx)
            kept = memory is not None and llama_cpp.llama_memory_seq_rm(memory, -1, same, -1)
            if not kept:  # some architectures forget all or nothing
                same = 0
                if memory is not None:
                    llama_cpp.llama_memory_clear(memory, True)
            llama.n_tokens = same
        return same

    def _read(self, tokens: list[int]) -> Iterator[None]:
        """Read a conversation from where it is known; comes up for air after each slice."""
        llama = self._llama
        while llama.n_tokens < len(tokens):
            start = time.monotonic()
            llama.eval(tokens[llama.n_tokens : llama.n_tokens + self._slices.size])
            self._slices.took(time.monotonic() - start, most=llama.n_batch)
            yield

    def _answer(self, request: ChatRequest, asked: _Asked, cached: int) -> Iterator[ChatDelta]:
        pieces = BytePieces(request.stop)
        form = self._template.calls if request.tools else None
        calls = CallReader(form, [tool.name for tool in request.tools]) if form else None
        if calls is not None and asked.begun:
            yield from calls.feed(asked.begun)
        finish: FinishReason = "length"
        count = 0
        for token in self._tokens(request, asked):
            count += 1
            if self._vocabulary.is_end(token):
                finish = "stop"
                break
            text = pieces.feed(self._vocabulary.piece(token, special=calls is not None))
            yield from told(text, calls)
            if pieces.stopped:
                finish = "stop"
                break
        yield from told(pieces.end(cut=finish == "length"), calls)
        if calls is not None:
            yield from calls.end()
            if calls.count and finish == "stop":
                finish = "tool_calls"
        yield ChatDelta(finish=finish, usage=TokenUsage(len(asked.tokens), count, cached))

    def _tokens(self, request: ChatRequest, asked: _Asked) -> Generator[int, None, None]:
        made = self._llama.generate(
            asked.tokens,
            temp=TEMPERATURE if request.temperature is None else request.temperature,
            top_p=TOP_P if request.top_p is None else request.top_p,
            grammar=asked.grammar,
        )
        try:
            for _ in range(asked.most):
                yield next(made)
        finally:
            made.close()
