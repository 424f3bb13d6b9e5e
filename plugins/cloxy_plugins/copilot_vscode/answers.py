"""What an agent answered: the Markdown among the parts of a response."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import unquote

from cloxy_hookspecs.logs.json_values import list_of, record_of

_EDITS = frozenset({"textEditGroup", "textEdit", "notebookEditGroup", "notebookEdit"})
_NOISE = _EDITS | {
    "agentDetection",
    "attempt",
    "clearToPreviousToolInvocation",
    "codeCitation",
    "codeblockUri",
    "command",
    "confirmation",
    "disabledClaudeHooks",
    "elicitation",
    "elicitation2",
    "elicitationSerialized",
    "error",
    "externalEdit",
    "extensions",
    "hook",
    "info",
    "mcpServersStarting",
    "mcpServersStartingSerialized",
    "move",
    "multiDiffData",
    "planReview",
    "prepareToolInvocation",
    "progress",
    "progressMessage",
    "progressTask",
    "progressTaskResult",
    "progressTaskSerialized",
    "pullRequest",
    "questionCarousel",
    "reference",
    "references",
    "thinking",
    "todoList",
    "toolInvocation",
    "toolInvocationSerialized",
    "treeData",
    "undoStop",
    "usage",
    "usedContext",
    "warning",
    "workspaceEdit",
}
# These stand inside a text; all others between two.
_WITHIN = frozenset({"codeblockUri", "undoStop", "codeCitation", "reference"})
_MARKDOWN = ("markdownContent", "markdownVuln")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*")
_KIND_LIMIT = 60


@dataclass(slots=True)
class Answer:
    """What a response says.

    Attributes:
        text: its Markdown; empty when there is none.
        unknown: kinds of parts that are not known.
    """

    text: str = ""
    unknown: list[str] = field(default_factory=list[str])


def answer_of(response: object) -> Answer:
    """The Markdown of a response, with the names of what it refers to in its sentences.

    What came before and after a call of a tool are paragraphs. The fences around an edit, which
    frame nothing once the edit is left out, are left out with it.
    """
    parts = list_of(response) if isinstance(response, list) else [response]
    answer = Answer()
    paragraphs: list[list[str]] = [[]]
    for number, part in enumerate(parts):
        kind, text = _kind_and_text(part)
        if text is not None:
            if not (_FENCE.fullmatch(text) and _beside_an_edit(parts, number)):
                paragraphs[-1].append(text)
            continue
        if kind not in _NOISE and part is not None:
            answer.unknown.append(f"response part {kind}"[:_KIND_LIMIT])
        if kind not in _WITHIN:
            paragraphs.append([])
    texts = ["".join(pieces).strip() for pieces in paragraphs]
    answer.text = "\n\n".join(text for text in texts if text)
    return answer


def _kind_and_text(part: object) -> tuple[str, str | None]:
    if isinstance(part, str):
        return "", part
    record = record_of(part)
    kind = record.get("kind")
    if kind is None and "value" in record:
        return "", _markdown(record.get("value"))
    if kind in _MARKDOWN:
        return str(kind), _markdown(record.get("content"))
    if kind == "inlineReference":
        return "inlineReference", reference_name(record)
    return (kind if isinstance(kind, str) else "(no kind)"), None


def _markdown(value: object) -> str | None:
    if isinstance(value, dict):
        value = value.get("value")
    return value if isinstance(value, str) else None


def reference_name(part: dict[str, object]) -> str:
    """The name by which a reference stands in its sentence: a symbol's, or that of a file."""
    target = part.get("inlineReference")
    if isinstance(target, str):
        return _file_name(unquote(target))
    reference = record_of(target)
    for name in (part.get("name"), reference.get("name")):
        if isinstance(name, str) and name.strip():
            return name
    location = record_of(reference.get("location")) or reference
    uri = location.get("uri", location)
    if isinstance(uri, str):
        return _file_name(unquote(uri))
    for key in ("path", "fsPath"):
        path = record_of(uri).get(key)
        if isinstance(path, str):
            return _file_name(path)
    return ""


def _file_name(path: str) -> str:
    return PureWindowsPath(PurePosixPath(path).name).name


def _beside_an_edit(parts: Sequence[object], number: int) -> bool:
    """Whether the next part that is no mark, on either side, belongs to an edit."""
    for step in (-1, 1):
        place = number + step
        while 0 <= place < len(parts) and record_of(parts[place]).get("kind") == "undoStop":
            place += step
        if 0 <= place < len(parts):
            part = record_of(parts[place])
            kind = part.get("kind")
            if kind in _EDITS or (kind == "codeblockUri" and part.get("isEdit") is True):
                return True
    return False
