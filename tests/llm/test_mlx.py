"""The MLX back-end at its boundary: a stand-in of mlx-lm, in a real process of its own."""

import json
from contextlib import aclosing
from pathlib import Path

import pytest
from llm.mlx_bench import answers, ask, folder_of, in_process, options_of, said

from cloxy_hookspecs import (
    ChatMessage,
    ContextTooLongError,
    ModelError,
    ResponseFormat,
    TokenUsage,
    ToolCall,
    ToolChoice,
    ToolSpec,
    UnsupportedModelError,
)
from cloxy_hookspecs.models.answers import TextPieces
from cloxy_plugins.llm_mlx import machine
from cloxy_plugins.llm_mlx.calls import CallForm, CallReader
from cloxy_plugins.llm_mlx.plugin import cloxy_llms

pytestmark = pytest.mark.process
STAND_IN = Path(__file__).parent / "mlx_stand_in"
TOOL = ToolSpec("recall", "Looks things up", {"type": "object"})
PROMPT = "<|user|>Where?<|end|><|assistant|>"
PROMPT_TOKENS = 9
"""Three that order it, and six letters."""


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    """For the child: it gets our path."""
    monkeypatch.syspath_prepend(str(STAND_IN))


def test_it_answers(tmp_path):
    ((text, end),) = answers(folder_of(tmp_path, "In Paris, grün 🌲."), ask())
    assert text == "In Paris, grün 🌲."
    assert end.finish == "stop"
    spoken = len(text.encode()) + 1
    assert end.usage == TokenUsage(PROMPT_TOKENS, spoken)


def test_what_is_known_of_it(tmp_path):
    async def work(process, info):
        return info, await process.count(ask())

    folder = folder_of(tmp_path, max_position_embeddings=4096, template="roles must alternate")
    info, count = in_process(options_of(folder), work)
    assert (info.id, info.context_tokens, info.alternates) == ("tiny", 4096, True)
    assert (info.tools, info.response_format, info.remote) == (False, False, False)
    assert info.created == int(folder.stat().st_mtime)
    assert count == PROMPT_TOKENS


@pytest.mark.parametrize(
    ("config", "wanted", "context"),
    [
        ({}, None, 32_768),
        ({"text_config": {"max_position_embeddings": 2048}}, None, 2048),
        ({"max_position_embeddings": 131_072}, None, 32_768),
        ({"max_position_embeddings": 131_072}, 65_536, 65_536),
        ({"max_position_embeddings": 2048}, 65_536, 2048),
    ],
)
def test_the_context(tmp_path, config, wanted, context):
    async def work(_, info):
        return info.context_tokens

    folder = folder_of(tmp_path, **config)
    assert in_process(options_of(folder, context_tokens=wanted), work) == context


def test_a_stop_ends_the_answer_and_is_no_part_of_it(tmp_path):
    ((text, end),) = answers(folder_of(tmp_path, "In Paris. User: and"), ask(stop=(" User:",)))
    assert (text, end.finish) == ("In Paris.", "stop")


def test_a_limit_ends_the_answer(tmp_path):
    ((text, end),) = answers(folder_of(tmp_path, "In Paris."), ask(max_tokens=2))
    assert (text, end.finish, end.usage.completion) == ("In", "length", 2)


def test_half_a_character_at_the_limit_is_told(tmp_path):
    ((text, end),) = answers(folder_of(tmp_path, "🌲"), ask(max_tokens=2))
    assert (text, end.finish) == ("\ufffd", "length")


def test_an_answer_ends_where_the_context_does(tmp_path):
    folder = folder_of(tmp_path, "In Paris.", max_position_embeddings=PROMPT_TOKENS + 3)
    ((text, end),) = answers(folder, ask())
    assert (text, end.finish) == ("In ", "length")


def test_a_conversation_that_does_not_fit(tmp_path):
    folder = folder_of(tmp_path, max_position_embeddings=PROMPT_TOKENS)
    with pytest.raises(ContextTooLongError, match=r"9 tokens, the model's context 9"):
        answers(folder, ask())


def test_a_seed_gives_the_same_answer_again(tmp_path):
    says = "In the beautiful city of Paris."
    seeds = [7, 7, 7 + 2**64, -8, 9, None]
    found = answers(
        folder_of(tmp_path, says), *(ask(temperature=1.0, seed=seed) for seed in seeds), ask()
    )
    texts = [text for text, _ in found]
    assert texts[0] == texts[1] == texts[2]
    assert len(set(texts[2:6])) > 1
    assert texts[6] == says, "temperature 0 leaves nothing to chance"


def _conversation(*turns):
    roles = ("user", "assistant")
    return ask([ChatMessage(roles[n % 2], turn) for n, turn in enumerate(turns)])


@pytest.mark.parametrize("trimmable", [True, False])
def test_what_was_read_is_not_read_again(tmp_path, trimmable):
    folder = folder_of(tmp_path, "@read", trimmable=trimmable)
    first, other = _conversation("Remember the mat"), _conversation("Remember the key")
    found = answers(folder, first, first, other, _conversation("Remember the key", "I do", "?"))
    texts = [text for text, _ in found]
    assert texts[0] == texts[1] == "<|user|>Remember the mat<|end|><|assistant|>"
    assert texts[2] == texts[0].replace("mat", "key")
    assert (
        texts[3]
        == "<|user|>Remember the key<|end|><|assistant|>I do<|end|><|user|>?<|end|><|assistant|>"
    )
    cached = [end.usage.cached for _, end in found]
    if trimmable:
        # All but the last token; up to where they differ; up to where the answer began.
        assert cached == [0, 18, 14, 19]
    else:
        assert cached == [0, 0, 0, 0]


def test_what_an_answer_left_is_used_where_it_goes_on(tmp_path):
    folder = folder_of(tmp_path, "I do", trimmable=False)
    first, second = answers(folder, ask("A"), _conversation("A", "I do", "B"))
    assert second[1].usage.cached == first[1].usage.prompt + first[1].usage.completion


def test_after_a_failure_nothing_is_kept(tmp_path):
    async def work(process, _):
        await said(process, ask(max_tokens=2))
        with pytest.raises(ModelError, match="too much"):
            await said(process, ask())
        return (await said(process, ask(max_tokens=2)))[:2]

    folder = folder_of(tmp_path, "In Paris.", fails_at=4)
    text, end = in_process(options_of(folder), work)
    assert (text, end.usage.cached) == ("In", 0)


def test_who_goes_away_ends_the_work(tmp_path):
    async def work(process, _):
        for request, wanted in ((ask(), "text"), (ask("long " * 200), "nothing")):
            async with aclosing(process.generate(request)) as stream:
                async for delta in stream:
                    if delta.text or wanted == "nothing":
                        break
        alive = process.alive
        return alive, (await said(process, ask(max_tokens=300)))[:2]

    folder = folder_of(tmp_path, "@read", seconds_a_token=0.001)
    alive, (text, end) = in_process(options_of(folder), work)
    assert alive, "it stopped by itself"
    assert text == PROMPT, "what was broken off does not come back"
    assert end.usage.cached > 0, "and what was read of it is used"


def test_tools_are_called(tmp_path):
    says = 'I look.<tool_call>\n{"name": "recall", "arguments": {"q": "grün"}}\n</tool_call>\n'

    async def work(process, info):
        return info, await said(process, ask(tools=(TOOL,)))

    info, (text, end, calls) = in_process(options_of(folder_of(tmp_path, says, calls=True)), work)
    assert info.tools
    assert (text, end.finish) == ("I look.", "tool_calls")
    ((name, arguments),) = ((call.name, json.loads(call.arguments)) for call in calls)
    assert (name, arguments) == ("recall", {"q": "grün"})


def test_calls_and_results_reach_the_template(tmp_path):
    turns = (
        ChatMessage("user", "When?"),
        ChatMessage("assistant", "", tool_calls=(ToolCall("c", "recall", '{"q": 1}'),)),
        ChatMessage("tool", "May", tool_call_id="c", name="recall"),
    )
    ((text, _),) = answers(folder_of(tmp_path, "@read"), ask(turns))
    call = '{"name": "recall", "arguments": {"q": 1}}'
    assert text.endswith(f"<|assistant|>{call}<|end|><|tool|>May<|end|><|assistant|>")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tools": (TOOL,)}, "takes no tools"),
        ({"response_format": ResponseFormat()}, "form"),
    ],
)
def test_what_it_cannot_do_is_refused(tmp_path, fields, words):
    with pytest.raises(UnsupportedModelError, match=words):
        answers(folder_of(tmp_path), ask(**fields))


def test_a_call_cannot_be_made_sure_of(tmp_path):
    request = ask(tools=(TOOL,), tool_choice=ToolChoice("required"))
    with pytest.raises(UnsupportedModelError, match="auto"):
        answers(folder_of(tmp_path, calls=True), request)


def test_tools_that_must_not_be_called_are_not_told(tmp_path):
    request = ask(tools=(TOOL,), tool_choice=ToolChoice("none"))
    ((text, _),) = answers(folder_of(tmp_path, "@read", calls=True), request)
    assert text == PROMPT


def test_nobody_ends_a_turn_by_writing_so(tmp_path):
    async def work(process, _):
        return await process.count(ask("<|end|>"))

    count = in_process(options_of(folder_of(tmp_path)), work)
    assert count == 3 + len("<|end|>")


def test_thinking_is_switched_off(tmp_path):
    ((text, _),) = answers(folder_of(tmp_path, "@read", thinks=True), ask())
    assert text == PROMPT


def test_turns_of_the_user_become_one_where_the_template_wants_it(tmp_path):
    request = ask([ChatMessage("user", "A"), ChatMessage("user", "B")])
    folder = folder_of(tmp_path, "@read", template="roles must alternate")
    ((text, _),) = answers(folder, request)
    assert text == "<|user|>A\n\nB<|end|><|assistant|>"


def test_what_a_template_refuses_is_told(tmp_path):
    folder = folder_of(tmp_path, template="roles must alternate")
    request = ask([ChatMessage("assistant", "A"), ChatMessage("assistant", "B")])
    with pytest.raises(UnsupportedModelError, match="must alternate"):
        answers(folder, request)


@pytest.mark.parametrize(
    ("config", "words"),
    [({"template": None}, "no chat template"), (None, r"cannot be loaded.*cloxy init")],
)
def test_a_model_that_cannot_be_used(tmp_path, config, words):
    folder = tmp_path / "nothing" if config is None else folder_of(tmp_path, **config)
    with pytest.raises(ModelError, match=words):
        answers(folder, ask())


@pytest.mark.parametrize(
    ("system", "cpu", "words"),
    [
        ("Darwin", "arm64", None),
        ("Darwin", "x86_64", "an Intel Mac"),
        ("Linux", "aarch64", "Linux on aarch64"),
    ],
)
def test_the_machine_that_it_needs(monkeypatch, system, cpu, words):
    monkeypatch.setattr(machine.platform, "system", lambda: system)
    monkeypatch.setattr(machine.platform, "machine", lambda: cpu)
    (provider,) = cloxy_llms()
    why = provider.available()
    if words is None:
        assert why is None
    else:
        assert words in why
        assert "Apple Silicon" in why


def _bad(text, tools):
    raise SyntaxError(text)


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize(
    ("form", "text", "said_", "names"),
    [
        (
            CallForm("[C]", "", lambda t, _: json.loads(t)),
            '[C][{"name": "a"}, {"name": "b"}]',
            "",
            ["a", "b"],
        ),
        (
            CallForm("[C]", "[/C]", lambda t, _: {"name": t}),
            "x[C]a[/C]\n[C]b[/C]y",
            "xy",
            ["a", "b"],
        ),
        (CallForm("[C]", "[/C]", lambda t, _: {"name": t}), "[C]z[/C]", "[C]z[/C]", []),
        (CallForm("[C]", "[/C]", lambda _t, _: 5), "[C]z[/C]", "[C]z[/C]", []),
        (CallForm("[C]", "[/C]", _bad), "[C]a[/C] [", "[C]a[/C] [", []),
    ],
)
def test_calls_in_other_forms(form, text, said_, names, size):
    reader = CallReader(form, ("a", "b"), ())
    found = [d for at in range(0, len(text), size) for d in reader.feed(text[at : at + size])]
    found += reader.end()
    assert "".join(delta.text for delta in found) == said_
    assert [part.name for delta in found for part in delta.tool_calls] == names


@pytest.mark.parametrize("size", [1, 2, 100])
def test_what_ends_an_answer_never_leaks(size):
    text = "one EN END two"
    pieces = TextPieces(("END", ""))
    found = [pieces.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*found, pieces.end()]) == "one EN "
    assert pieces.stopped
