"""Conversations of a ChatGPT export: a tree of messages each, of which one branch is shown."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import orjson

from cloxy_core.services.exchange.foreign_talk import (
    NotUsableError,
    Object,
    Said,
    Talk,
    items,
    mapping,
    string,
    talk,
    time_of,
)

AGENT: Final = "chatgpt"
_KINDS: Final = ("text", "multimodal_text")
_ROLES: Final[Mapping[object, Literal["user", "assistant"]]] = {
    "user": "user",
    "assistant": "assistant",
}
_MARKED: Final = re.compile("\ue200([^\ue200\ue201]{0,4000})\ue201")
_MARK: Final = re.compile("[\ue200-\ue206](?:turn\\d+[a-z]+\\d+)?")
_SOURCE: Final = re.compile(r"【\d+(?::\d+)?†[^【】\n]{0,300}】")
_SHOWN: Final = ("url", "navlist", "link_title")
_IMAGE: Final = "image_asset_pointer"


def is_chatgpt(value: Object) -> bool:
    """Whether an item of the list is one of ChatGPT's."""
    return isinstance(value.get("mapping"), dict)


def chatgpt_talk(value: Object) -> Talk:
    """A conversation: its active branch, and of that what people read.

    Raises:
        NotUsableError: it has no id, or no tree.
    """
    if not is_chatgpt(value):
        raise NotUsableError("it has no mapping")
    nodes = mapping(value["mapping"])
    default = string(value.get("default_model_slug"))
    said = [
        each
        for name in _branch(nodes, value.get("current_node"))
        if (each := _said(name, mapping(mapping(nodes[name]).get("message")), default)) is not None
    ]
    key = string(value.get("conversation_id")) or string(value.get("id"))
    return talk(key, string(value.get("title")), said, time_of(value.get("create_time")))


def _branch(nodes: Object, current: object) -> Sequence[str]:
    """Names of the nodes from the root to the current one, or to the newest leaf."""
    name: object = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    branch: list[str] = []
    passed: set[str] = set()
    while isinstance(name, str) and name in nodes and name not in passed:
        passed.add(name)
        branch.append(name)
        name = mapping(nodes[name]).get("parent")
    return branch[::-1]


def _newest_leaf(nodes: Object) -> str | None:
    parents = {
        parent for node in nodes.values() if isinstance(parent := mapping(node).get("parent"), str)
    }
    leaves = [name for name in nodes if name not in parents]
    newest, best = None, -1
    for name in leaves:
        at = time_of(mapping(mapping(nodes[name]).get("message")).get("create_time")) or 0
        if at >= best:
            newest, best = name, at
    return newest


def _said(name: str, message: Object, default: str | None) -> Said | None:
    """A node's message; None for one that is not shown, or is no talk."""
    role = _ROLES.get(string(mapping(message.get("author")).get("role")))
    content, facts = mapping(message.get("content")), mapping(message.get("metadata"))
    if (
        role is None
        or content.get("content_type") not in _KINDS
        or facts.get("is_visually_hidden_from_conversation") is True
    ):
        return None
    model = None
    if role == "assistant":
        if message.get("recipient", "all") not in ("all", None):
            return None
        model = string(facts.get("model_slug")) or default
    text = "\n".join(part for each in items(content.get("parts")) if (part := _part(each)))
    if role == "assistant":
        text = without_marks(text)
    return Said(name, role, text, time_of(message.get("create_time")), model)


def _part(part: object) -> str | None:
    if isinstance(part, str):
        return string(part)
    facts = mapping(part)
    if facts.get("content_type") == _IMAGE:
        address = string(facts.get("asset_pointer")) or "without a name"
        return f"[image: {address.rpartition('/')[2][:200]}]"
    return string(facts.get("text"))


def without_marks(text: str) -> str:
    """A text without the marks that stand for links to its sources."""
    text = _MARKED.sub(_shown, text)
    return _SOURCE.sub("", _MARK.sub("", text))


def _shown(found: "re.Match[str]") -> str:
    """What a reader sees of a marked place: a name or a title, and of a citation nothing."""
    kind, *fields = found[1].split("\ue202")
    if not fields:
        return ""
    if kind in _SHOWN:
        return fields[0]
    if kind == "entity":
        try:
            values = items(orjson.loads(fields[0]))
        except orjson.JSONDecodeError:
            return ""
        return string(values[1]) or "" if len(values) > 1 else ""
    return ""
