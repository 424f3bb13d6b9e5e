"""What was said in a task, from the conversation with the model, where there is nothing better."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cloxy_hookspecs.logs.json_values import Record, id_of, list_of, record_of, words_of
from cloxy_hookspecs.logs.turns import MadeUids, damaged, message, unknown
from cloxy_plugins.cline.about import About, folder_of_details
from cloxy_plugins.cline.elements import Elements
from cloxy_plugins.cline.pictures import picture_of_block
from cloxy_plugins.cline.words import (
    heads_an_answer,
    said_in_history,
    spoken_field,
    typed_in_history,
)

_NOISE = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "reasoning",
        "thoughtSignature",
        "tool_use",
        "tool_result",
        "document",
        "file",
    }
)


def blocks_of(content: object) -> list[Record]:
    """The blocks of a message; a text alone is one."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [record_of(each) for each in list_of(content)]


def is_known(content: object) -> bool:
    """Whether the content of a message has a known form."""
    return isinstance(content, str | list)


def folder_of_history(elements: Elements) -> str | None:
    """The folder that the first message names."""
    for value in elements.values[:1]:
        for block in blocks_of(record_of(value).get("content")):
            if found := folder_of_details(words_of(block, "text")):
                return found
    return None


def history_records(
    key: str, elements: Elements, about: About, cwd: str | None
) -> Iterator[Record]:
    """Records of the messages of a task.

    Args:
        key: key of its session.
        elements: messages as they were sent to a model.
        about: facts of the task.
        cwd: its folder.
    """
    made = MadeUids()
    calls: dict[str, object] = {}
    child = about.parent is not None
    first = not elements.headless
    for value in elements.values:
        record = record_of(value)
        role = record.get("role")
        content = record.get("content")
        if not is_known(content) or role not in ("user", "assistant"):
            yield damaged("a message of no known form")
            continue
        blocks = blocks_of(content)
        yield from unknown_blocks(blocks, _NOISE)
        person = role == "user"
        text = "\n\n".join(_typed(blocks, calls, first=first) if person else _said(blocks, calls))
        started, first = first, False
        if not text:
            continue
        model = id_of(record_of(record.get("modelInfo")), "modelId")
        agent = child and (started or not person)
        yield message(
            key,
            made.of(key, str(role), text),
            "user" if person else "assistant",
            "subagent" if agent else "human" if person else "assistant",
            text,
            at=record.get("ts"),
            near=key if key.isdecimal() else None,
            cwd=cwd,
            model=None if person else model or about.model_at(record.get("ts")),
        )


def unknown_blocks(blocks: Iterable[Record], noise: frozenset[str]) -> Iterator[Record]:
    """Records of blocks of a kind that is not known, or without the words of their kind."""
    for block in blocks:
        kind = id_of(block, "type") or "(no type)"
        if _lacks_words(block) or (kind not in ("text", "image") and kind not in noise):
            yield unknown(kind)
        if kind == "tool_result":
            inside = blocks_of(block.get("content"))
            yield from (unknown("text") for each in inside if _lacks_words(each))


def _lacks_words(block: Record) -> bool:
    """Whether a block has not even empty words, where its kind always has some."""
    if block.get("type") == "text":
        return not isinstance(block.get("text"), str)
    field = spoken_field(block.get("name")) if block.get("type") == "tool_use" else None
    given = block.get("input")
    # A call that was broken off has nothing in it.
    return field is not None and given != {} and not isinstance(record_of(given).get(field), str)


def _typed(blocks: Sequence[Record], calls: Mapping[str, object], *, first: bool) -> Iterator[str]:
    pictures = [picture_of_block(block) for block in blocks if block.get("type") == "image"]
    found: list[str] = []
    head = ""
    for block in blocks:
        if block.get("type") == "tool_result":
            tool = calls.get(id_of(block, "tool_use_id") or "", "")
            found.extend(
                typed_in_history(words_of(each, "text"), first=False, tool=tool)
                for each in blocks_of(block.get("content"))
            )
            continue
        text = head + words_of(block, "text")
        head = f"{text}\n" if heads_an_answer(text) else ""
        found.append(typed_in_history(text, first=first))
    typed = [text for text in found if text]
    yield from typed
    # Pictures without words of a person are a tool's.
    yield from pictures if typed or first else ()


def _said(blocks: Iterable[Record], calls: dict[str, object]) -> Iterator[str]:
    for block in blocks:
        if block.get("type") == "text":
            words = said_in_history(words_of(block, "text"))
        elif block.get("type") == "tool_use":
            field = spoken_field(block.get("name"))
            words = words_of(record_of(block.get("input")), field).strip() if field else ""
            if call := id_of(block, "id"):
                calls[call] = block.get("name")
        else:
            words = ""
        if words:
            yield words
