"""Language models: behind an address, and in a process of their own."""

import importlib
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import islice
from typing import Any

import pytest

from cloxy_core.testing.conformance.base import Conformance, CreatedConformance
from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    LLM,
    ChatDelta,
    ChatMessage,
    ChatRequest,
    HostedModel,
    HostedModelProvider,
    HostedOptions,
    ModelInfo,
    ToolSpec,
    UnsupportedModelError,
)
from cloxy_hookspecs.seats import LLMS

QUESTION = ChatRequest(
    messages=(ChatMessage("user", "Count from one to ten, in words, one after the other."),),
    max_tokens=24,
    temperature=0.0,
    seed=7,
)
TOOL = ToolSpec(
    "tide_table",
    "Tells when the tide is high",
    {"type": "object", "properties": {"day": {"type": "string"}}},
)


class LLMConformance(CreatedConformance, of_the_kit=True):
    """A back-end that reaches its models by itself.

    Give `provider`, and `settings` with which it reaches a server that answers.
    """

    seat = LLMS

    def use(self, made: LLM, app: App) -> None:
        """Ask for its models."""
        app.do(_listed(made))

    def test_it_says_what_it_is(self, made: LLM) -> None:
        """Without asking anybody: a place for people, and whether conversations leave."""
        assert isinstance(made.place, str)
        assert made.place.strip(), "people are told where it runs"
        assert isinstance(made.remote, bool)
        assert isinstance(made.configured, bool)

    def test_its_models_have_names(self, made: LLM, app: App) -> None:
        """Each once; the first is the one that is set."""
        models = app.do(_listed(made))
        assert models, "let it reach a server with a model"
        for each in models:
            assert type(each) is ModelInfo
            assert each.id.strip()
        assert len({each.id for each in models}) == len(models)

    def test_an_answer_has_pieces_and_one_end(self, made: LLM, app: App) -> None:
        """After its end there is nothing but what it cost."""
        assert_whole(app.do(_all(made.stream(QUESTION))))

    def test_closing_lets_it_go(self, made: LLM, app: App) -> None:
        """An answer of which nobody wants the rest does not spoil the next one."""

        async def begun() -> None:
            deltas = made.stream(QUESTION)
            await anext(deltas)
            await _close(deltas)

        for _ in range(3):
            app.do(begun())
        assert_whole(app.do(_all(made.stream(QUESTION))))


class HostedModelConformance(Conformance, of_the_kit=True):
    """A library that runs models; the model is loaded into the process of the tests.

    Give `provider`, and `options`: what it is to load, a model that is on this machine.
    """

    seat = LLMS

    @pytest.fixture(scope="class")
    def options(self) -> HostedOptions:
        """What is loaded; give it in the subclass."""
        pytest.fail(f"{type(self).__name__}: give a fixture `options` that names a model")

    @pytest.fixture
    def model(self, provider: HostedModelProvider, options: HostedOptions) -> HostedModel:
        """The model, loaded as its process does it."""
        why = provider.available()
        if why is not None:
            pytest.skip(why)
        module, _, name = provider.target.partition(":")
        key = (provider.target, options.choice)
        if key not in _LOADED:
            _LOADED.clear()
            _LOADED[key] = getattr(importlib.import_module(module), name)(options)
        loaded: HostedModel = _LOADED[key]
        return loaded

    def test_it_is_known_once_loaded(self, model: HostedModel) -> None:
        """Its name, and how long a conversation may be."""
        assert isinstance(model.info, ModelInfo)
        assert model.info.id.strip()
        assert model.info.context_tokens is None or model.info.context_tokens > 0

    def test_an_answer_has_pieces_and_one_end(self, model: HostedModel) -> None:
        """After its end there is nothing but what it cost."""
        assert_whole(list(model.generate(QUESTION)))

    def test_tokens_are_counted(self, model: HostedModel) -> None:
        """What an answer says that it cost is what counting says, and within what was asked."""
        usage = next((d.usage for d in model.generate(QUESTION) if d.usage is not None), None)
        assert usage is not None, "a library here knows what an answer cost"
        assert usage.prompt == model.count(QUESTION) > 0
        assert 0 < usage.completion <= QUESTION.max_tokens
        assert 0 <= usage.cached <= usage.prompt

    def test_an_answer_is_no_longer_than_it_may(self, model: HostedModel) -> None:
        """Cut off, it says so."""
        deltas = list(model.generate(_with(max_tokens=2)))
        assert_whole(deltas)
        assert [delta.finish for delta in deltas if delta.finish] == ["length"]

    def test_stop_texts_end_it_and_are_no_part_of_it(self, model: HostedModel) -> None:
        """Also one that spreads over several pieces."""
        whole = "".join(delta.text for delta in model.generate(QUESTION))
        assert len(whole) >= 6, "let it say a few words"
        for length in (1, 3):
            middle = len(whole) // 2
            stop = whole[middle : middle + length]
            deltas = list(model.generate(_with(stop=(stop,))))
            said = "".join(delta.text for delta in deltas)
            assert said == whole[: whole.index(stop)]
            assert [delta.finish for delta in deltas if delta.finish] == ["stop"]

    def test_closing_lets_it_go(self, model: HostedModel) -> None:
        """An answer of which nobody wants the rest does not spoil the next one."""
        wanted = "".join(delta.text for delta in model.generate(QUESTION))
        for _ in range(2):
            pieces = iter(model.generate(QUESTION))
            list(islice(pieces, 1))
            _close_now(pieces)
        assert "".join(delta.text for delta in model.generate(QUESTION)) == wanted

    def test_what_it_cannot_do_it_refuses(self, model: HostedModel) -> None:
        """Tools that nobody would call are not passed over in silence."""
        if model.info.tools:
            return
        refused = False
        try:
            list(model.generate(_with(tools=(TOOL,))))
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            refused = UnsupportedModelError.__name__ in kinds
        assert refused, "raise an UnsupportedModelError"


_LOADED: dict[Any, Any] = {}


def assert_whole(deltas: Sequence[ChatDelta]) -> None:
    """Check that an answer says something, ends once, and says nothing after."""
    ends = [place for place, delta in enumerate(deltas) if delta.finish is not None]
    assert len(ends) == 1, "exactly one delta says why the answer ended"
    after = deltas[ends[0] + 1 :]
    assert not any(delta.text or delta.tool_calls for delta in after), "nothing after the end"
    assert sum(delta.usage is not None for delta in deltas) <= 1
    assert any(delta.text or delta.tool_calls for delta in deltas), "an answer says something"


def _with(**changes: Any) -> ChatRequest:  # noqa: ANN401 - fields of a request
    return ChatRequest(
        **{
            "messages": QUESTION.messages,
            "max_tokens": QUESTION.max_tokens,
            "temperature": QUESTION.temperature,
            "seed": QUESTION.seed,
            **changes,
        }
    )


async def _listed(llm: LLM) -> Sequence[ModelInfo]:
    return list(await llm.models())


async def _all(deltas: AsyncIterator[ChatDelta]) -> list[ChatDelta]:
    return [delta async for delta in deltas]


async def _close(deltas: AsyncIterator[ChatDelta]) -> None:
    close = getattr(deltas, "aclose", None)
    if close is not None:
        await close()


def _close_now(pieces: Iterator[ChatDelta]) -> None:
    close = getattr(pieces, "close", None)
    if close is not None:
        close()
