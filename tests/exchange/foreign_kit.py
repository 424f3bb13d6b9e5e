"""Exports of ChatGPT and Claude.ai, made here."""

import io
import json
import zipfile

from cloxy_core.services.exchange.foreign_limits import LIMITS
from cloxy_core.services.exchange.foreign_reading import ForeignReader

NOON = 1_770_000_000.25


def node(name, parent, message=None):
    return {name: {"id": name, "parent": parent, "children": [], "message": message}}


def said(role, *parts, at=NOON, kind="text", **more):
    return {
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": kind, "parts": list(parts)},
        **more,
    }


def chatgpt(*nodes, key="c-1", current=None, **more):
    mapping = {}
    for each in nodes:
        mapping |= each
    return {
        "title": "Tide tables",
        "create_time": NOON - 10,
        "conversation_id": key,
        "current_node": current,
        "mapping": mapping,
        **more,
    }


def plain_chatgpt(key="c-1", answer="In the drawer under the chart table."):
    return chatgpt(
        node("root", None),
        node(f"{key}-q", "root", said("user", "Where do we keep the tide tables?")),
        node(f"{key}-a", f"{key}-q", said("assistant", answer, at=NOON + 1)),
        key=key,
        current=f"{key}-a",
    )


def claude_message(uid, sender, text, **more):
    return {
        "uuid": uid,
        "sender": sender,
        "text": text,
        "created_at": "2026-03-01T08:00:00.500000Z",
        **more,
    }


def claude_ai(*messages, key="k-1", name="Larch"):
    return {
        "uuid": key,
        "name": name,
        "created_at": "2026-03-01T07:59:00.000000Z",
        "chat_messages": list(messages),
    }


def packed(members, kind=zipfile.ZIP_DEFLATED):
    """A zip of these names and bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", kind) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def read(data, limits=LIMITS):
    """The lines that a reader makes of bytes, and its report."""
    reader = ForeignReader(limits)
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return [json.loads(line) for line in reader.lines(io.BytesIO(raw))], reader.report


def messages(data, limits=LIMITS):
    return [line for line in read(data, limits)[0] if line["kind"] == "message"]


def texts(data):
    return [line["text"] for line in messages(data)]
