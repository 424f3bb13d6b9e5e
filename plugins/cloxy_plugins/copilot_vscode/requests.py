"""Records of a session: its facts, and two messages for each request, what was asked and said.

The id of a message is that of its request with the role behind it. A request without an id, as none
was seen, counts by its place.
"""

import re
from collections.abc import Iterator

from cloxy_hookspecs.logs.json_values import Record, id_of, list_of, record_of
from cloxy_hookspecs.logs.turns import damaged, unknown
from cloxy_plugins.copilot_vscode.answers import answer_of
from cloxy_plugins.copilot_vscode.pictures import pictures_of

_NUMBER_LIMIT = 2**53
_MODEL_LIMIT = 120
# What a button sends is its own words, and often the question over it.
_BUTTON = re.compile(
    r'(?:@[\w.-]{1,60}\s+)?(?:[A-Z][\w\' ]{0,40}: "[^\n]{0,400}"|Try Again|Continue)\s*\Z'
)
_BUTTON_ALONE = re.compile(r"@[\w.-]{1,60}\s+")


def session_key(state: Record, name: str) -> str:
    """The id of a session, else the name of its file."""
    return id_of(state, "sessionId") or name


def request_records(state: Record, key: str, cwd: str | None) -> Iterator[Record]:
    """Records of all requests of a session.

    Args:
        state: the session.
        key: its id.
        cwd: the folder of its workspace.
    """
    near = _time(state.get("creationDate"))
    requests = state.get("requests")
    if requests is not None and not isinstance(requests, list):
        yield damaged("the requests are no array")
    seen: set[str] = set()
    for number, value in enumerate(list_of(requests)):
        if value is None:
            continue
        if not isinstance(value, dict):
            yield damaged(f"request {number + 1} is no object")
            continue
        uid = id_of(value, "requestId") or f"{key}/{number}"
        if uid in seen:
            yield damaged(f"request {number + 1} has the id of another one")
            continue
        seen.add(uid)
        at = _time(value.get("timestamp"))
        common: Record = {
            "kind": "message",
            "session": key,
            "cwd": cwd,
            "at": near if at is None else at,
        }
        yield from _request(value, uid, common, exact=at is not None)


def _request(request: Record, uid: str, common: Record, *, exact: bool) -> Iterator[Record]:
    """What was asked, and what was answered; the log has no time of the answer."""
    words = _words(request.get("message"))
    if words is None:
        yield damaged("a request has no message of a known form")
    pictures = "\n".join(pictures_of(request))
    said = "\n\n".join(part for part in ((words or "").strip(), pictures) if part)
    if said:
        author = "program" if _is_program(request, words or "") else "human"
        yield common | {
            "uid": f"{uid}/user",
            "role": "user",
            "author": author,
            "text": said,
            "approximate": not exact,
        }
    answer = answer_of(request.get("response"))
    for name in answer.unknown:
        yield unknown(name)
    if answer.text:
        yield common | {
            "uid": f"{uid}/assistant",
            "role": "assistant",
            "author": "assistant",
            "text": answer.text,
            "model": _model(request.get("modelId")),
            "approximate": True,
        }


def _words(message: object) -> str | None:
    text = record_of(message).get("text", message)
    return text if isinstance(text, str) else None


def _is_program(request: Record, words: str) -> bool:
    """Whether a button or VS Code itself made a request, not a person."""
    if any(request.get(key) is True for key in ("isSystemInitiated", "isHidden")):
        return True
    if isinstance(request.get("confirmation"), str):
        return True
    confirmed = ("acceptedConfirmationData", "rejectedConfirmationData")
    if any(request.get(key) for key in confirmed):
        return True
    # A person may write such words, too, but not behind the name of an agent that they got.
    return bool(_BUTTON_ALONE.match(words) and _BUTTON.match(words))


def _model(value: object) -> str | None:
    if not isinstance(value, str) or not value.isprintable():
        return None
    return value.rpartition("/")[2][:_MODEL_LIMIT] or None


def _time(value: object) -> int | float | None:
    """A number that may be a time; whether it can be is the parser's to say."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) < _NUMBER_LIMIT else None
