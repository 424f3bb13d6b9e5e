"""Language models and endpoints that are wrong on purpose, each with the test that finds it out.

Not collected by itself: `test_kit_itself` runs it and looks at what fails.
"""

import sys
from dataclasses import replace

from contract.cases import Cases

from cloxy_core.testing.conformance import (
    EndpointConformance,
    HostedModelConformance,
    LLMConformance,
)
from cloxy_hookspecs import (
    ChatDelta,
    EndpointAnswer,
    EndpointProvider,
    HostedModelProvider,
    HostedOptions,
    InputError,
    LLMProvider,
    ModelChoice,
    ModelInfo,
    TokenUsage,
    UnsupportedModelError,
)

CASES = Cases(__name__, "LLM")
WORDS = ("one ", "two ", "three ", "four ", "five ", "six ")


class GoodLLM:
    place, remote, configured = "here", False, True

    async def models(self):
        return [ModelInfo(id="a", backend="broken"), ModelInfo(id="b", backend="broken")]

    async def count(self, request):
        return None

    async def stream(self, request):
        for word in WORDS:
            yield ChatDelta(text=word)
        yield ChatDelta(finish="stop")
        yield ChatDelta(usage=TokenUsage(1, 6))


def llm(test, **changes):
    """Add a back-end with some of it replaced."""
    made = type("Changed", (GoodLLM,), changes)
    record = LLMProvider(name="broken", summary="Wrong", create=lambda context: made())
    CASES.add(LLMConformance, test, record)


def streaming(*deltas):
    async def stream(self, request):
        for delta in deltas:
            yield delta

    return stream


def listing(*names):
    async def models(self):
        return [ModelInfo(id=name, backend="broken") for name in names]

    return models


class Sticky(GoodLLM):
    open = 0

    async def stream(self, request):
        type(self).open += 1
        assert type(self).open == 1, "the one before was never let go"
        async for delta in GoodLLM.stream(self, request):
            yield delta
        type(self).open -= 1


llm("test_it_says_what_it_is", place=" ")
llm("test_it_says_what_it_is", remote=None)
llm("test_it_says_what_it_is", configured="yes")
llm("test_its_models_have_names", models=listing())
llm("test_its_models_have_names", models=listing("a", "a"))
llm("test_its_models_have_names", models=listing("a", ""))
END = ChatDelta(finish="stop")
for deltas in (
    (ChatDelta(text="a"),),
    (ChatDelta(text="a"), END, END),
    (ChatDelta(text="a"), END, ChatDelta(text="b")),
    (END,),
    (ChatDelta(text="a"), END, *[ChatDelta(usage=TokenUsage(1, 1))] * 2),
):
    llm("test_an_answer_has_pieces_and_one_end", stream=streaming(*deltas))
CASES.add(
    LLMConformance,
    "test_closing_lets_it_go",
    LLMProvider(name="broken", summary="Wrong", create=lambda context: Sticky()),
)


class GoodModel:
    info = ModelInfo(id="m", backend="", context_tokens=100)

    def count(self, request):
        return len(request.messages[0].text.split())

    def generate(self, request):
        if request.tools and not self.info.tools:
            raise UnsupportedModelError("no tools")
        words = WORDS[: request.max_tokens]
        whole = "".join(words)
        places = [whole.index(stop) for stop in request.stop if stop in whole]
        said = whole[: min(places)] if places else whole
        for start in range(0, len(said), 4):
            yield ChatDelta(text=said[start : start + 4])
        cut = len(words) < len(WORDS) and not places
        usage = TokenUsage(self.count(request), len(words))
        yield ChatDelta(finish="length" if cut else "stop", usage=usage)


def hosted(test, **changes):
    """Add a model with some of it replaced."""
    made = type("Changed", (GoodModel,), changes)
    name = f"load_{len(CASES)}"
    setattr(sys.modules[__name__], name, lambda options: made())
    record = HostedModelProvider(
        name="broken", summary="Wrong", format="gguf", target=f"{__name__}:{name}"
    )
    options = HostedOptions(ModelChoice("m", "gguf", "here", path=name), 1)
    CASES.add(HostedModelConformance, test, record, options=lambda self: options)


def altered(change):
    """Answers with something done to each delta."""

    def generate(self, request):
        for delta in GoodModel.generate(self, request):
            yield change(delta)

    return generate


def asked(**changes):
    """Answers to another request than was made."""

    def generate(self, request):
        return GoodModel.generate(self, replace(request, **changes))

    return generate


class Once(GoodModel):
    """Has to be read to its end, or the next answer begins where it was left."""

    left = ()

    def generate(self, request):
        type(self).left = list(self.left) or list(GoodModel.generate(self, request))
        while self.left:
            yield type(self).left.pop(0)


def usage_of(prompt=None, completion=6):
    def change(delta):
        if delta.usage is None:
            return delta
        return replace(delta, usage=TokenUsage(prompt or delta.usage.prompt, completion))

    return altered(change)


hosted("test_it_is_known_once_loaded", info=ModelInfo(id=" ", backend=""))
hosted("test_it_is_known_once_loaded", info=ModelInfo(id="m", backend="", context_tokens=0))
hosted(
    "test_an_answer_has_pieces_and_one_end",
    generate=altered(lambda delta: replace(delta, finish=None)),
)
hosted(
    "test_an_answer_has_pieces_and_one_end",
    generate=altered(lambda delta: replace(delta, finish="stop")),
)
hosted("test_tokens_are_counted", generate=altered(lambda delta: replace(delta, usage=None)))
hosted("test_tokens_are_counted", generate=usage_of(prompt=99))
hosted("test_tokens_are_counted", generate=usage_of(completion=99))
hosted("test_tokens_are_counted", generate=usage_of(completion=0))
hosted("test_an_answer_is_no_longer_than_it_may", generate=asked(max_tokens=24))
hosted("test_stop_texts_end_it_and_are_no_part_of_it", generate=asked(stop=()))
hosted("test_closing_lets_it_go", generate=Once.generate, left=())
hosted("test_what_it_cannot_do_it_refuses", generate=asked(tools=()))


def endpoint(test, call=None, **changes):
    """Add an endpoint with some of it replaced."""

    async def good(request):
        raise InputError("no")

    record = EndpointProvider(
        **{
            "name": "broken",
            "summary": "Wrong",
            "method": "POST",
            "path": "/v9/broken",
            "effect": "read",
            "create": lambda context: call or good,
            **changes,
        }
    )
    CASES.add(EndpointConformance, test, record)


async def takes_all(request):
    return EndpointAnswer(body=b"{}")


async def breaks(request):
    return EndpointAnswer(body=request.body.decode().encode(), status=400)


async def nothing(request):
    return None


endpoint("test_its_place_is_sound", method="LOOK")
endpoint("test_its_place_is_sound", effect="none")
endpoint("test_its_place_is_sound", path="v9")
endpoint("test_its_place_is_sound", path="/v9/a b")
endpoint("test_its_place_is_sound", path="/{a:path}/b")
endpoint("test_its_place_is_sound", path="/{a}/{a}")
endpoint("test_its_place_is_sound", path="/{a}", large_body=True)
endpoint("test_what_can_be_got_only_reads", method="GET", effect="write")
endpoint("test_garbage_is_refused_in_words", takes_all)
endpoint("test_garbage_is_refused_in_words", breaks)
endpoint("test_garbage_is_refused_in_words", nothing)
