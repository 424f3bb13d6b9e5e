"""What `cloxy sessions` asks the server for."""

from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode

import click

from cloxy_core.cli import fields
from cloxy_core.client import Client

MOST_AT_ONCE = 500
"""Sessions of one answer."""

MESSAGES_AT_ONCE = 500
CHARACTERS_AT_ONCE = 1_000_000
SECONDS = 120.0


def list_sessions(
    client: Client, filters: Mapping[str, object], limit: int
) -> tuple[list[Mapping[str, object]], object]:
    """Sessions, the newest first, and the cursor of what follows them; None when all are there.

    Raises:
        ClientError: the server cannot be reached, or refuses.
    """
    found: list[Mapping[str, object]] = []
    cursor: object = None
    while len(found) < limit:
        asked = {**filters, "limit": min(limit - len(found), MOST_AT_ONCE), "cursor": cursor}
        answer = client.request("GET", f"/sessions{_query(asked)}", seconds=SECONDS)
        found += fields.records(answer, "sessions")
        following = answer.get("next")
        if following is None or following == cursor:
            return found, None
        cursor = following
    return found, cursor


def stretches(
    client: Client,
    key: str,
    *,
    agent: str | None = None,
    around: int | None = None,
    limit: int | None = None,
) -> Iterator[Mapping[str, object]]:
    """A session in stretches of messages, each with all that is known of the session.

    Args:
        client: the server.
        key: the agent's own id of it, or the beginning of it.
        agent: name of the agent; None for any.
        around: id of a memory, shortly before which to begin; None for the first message.
        limit: most messages; None for all.

    Raises:
        ClientError: the server cannot be reached, or refuses.
        UsageError: the text cannot be an id.
    """
    place: dict[str, object] = {"around": around}
    left = limit
    while left is None or left > 0:
        most = MESSAGES_AT_ONCE if left is None else min(left, MESSAGES_AT_ONCE)
        answer = client.request(
            "GET",
            _path(key, {**place, "agent": agent, "limit": most, "characters": CHARACTERS_AT_ONCE}),
            seconds=SECONDS,
        )
        yield answer
        if left is not None:
            left -= max(1, len(fields.items(answer, "messages")))
        following = answer.get("next")
        if not isinstance(following, int) or not fields.items(answer, "messages"):
            return
        # From here on by its whole id: the beginning of one may mean several by then.
        key, agent = fields.text(answer, "id") or key, fields.text(answer, "agent") or agent
        place = {"start": following}


def one_message(client: Client, key: str, agent: str | None) -> Mapping[str, object]:
    """What is known of a session, with its first message.

    Raises:
        ClientError: the server cannot be reached, or refuses.
        UsageError: the text cannot be an id.
    """
    return client.request(
        "GET", _path(key, {"agent": agent, "limit": 1, "characters": 1}), seconds=SECONDS
    )


def _path(key: str, asked: Mapping[str, object]) -> str:
    first, slash, rest = key.partition("/")
    if not first or first.strip(".") == "":
        raise click.UsageError("that is no id of a session; `cloxy sessions` shows them")
    return f"/sessions/{_quoted(first)}{_query({'rest': rest if slash else None, **asked})}"


def _query(values: Mapping[str, object]) -> str:
    given = {name: value for name, value in values.items() if value is not None}
    return f"?{urlencode(given, errors='replace')}" if given else ""


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")
