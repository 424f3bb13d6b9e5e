"""Rows of claude-mem's tables as notes and messages; see `foreign_claude_mem`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cloxy_core.services.exchange.foreign_memories import ForeignMessage, ForeignNote, Told
from cloxy_core.services.exchange.foreign_records import Record
from cloxy_core.services.exchange.foreign_values import (
    json_list,
    json_of,
    moment,
    stated,
    text_of,
    whole,
)

AGENT: Final = "claude-code"
PLATFORM: Final = "claude"
SESSION_COLUMNS: Final = (
    *("id", "content_session_id", "claude_session_id", "memory_session_id", "sdk_session_id"),
    *("project", "platform_source", "custom_title"),
)
FIRST_COLUMNS: Final = (
    *("id", "content_session_id", "claude_session_id", "project", "platform_source"),
    *("user_prompt", "started_at", "started_at_epoch"),
)
_IDS: Final = ("memory_session_id", "sdk_session_id")
TIMES: Final = ("created_at", "created_at_epoch")
OBSERVATION_COLUMNS: Final = (
    *("id", "project", "text", "type", "title", "subtitle", "facts", "narrative", "concepts"),
    *("files_read", "files_modified", "prompt_number", "discovery_tokens", "agent_type"),
    *("agent_id", "merged_into_project", "generated_by_model", "metadata", *_IDS, *TIMES),
)
_PARTS: Final = {
    "request": "Request",
    "investigated": "Investigated",
    "learned": "Learned",
    "completed": "Completed",
    "next_steps": "Next steps",
    "notes": "Notes",
}
"""What a summary consists of, and the words before it."""

_FILES: Final = {"files_read": "Files read", "files_edited": "Files edited"}
SUMMARY_COLUMNS: Final = (
    *("id", "project", *_PARTS, *_FILES, "prompt_number", "discovery_tokens"),
    *("merged_into_project", *_IDS, *TIMES),
)
PROMPT_COLUMNS: Final = (
    *("id", "session_db_id", "content_session_id", "claude_session_id"),
    *("prompt_number", "prompt_text", *TIMES),
)
DIRECTIVE_COLUMNS: Final = (
    *("id", "scope", "project", "content", "status", "source", "updated_at_epoch", *TIMES),
)
MEMORY_COLUMNS: Final = (
    *("id", "session_id", "text", "document_id", "keywords", "project", "archive_basename"),
    *("origin", "title", "subtitle", "facts", "concepts", "files_touched", *TIMES),
)
OVERVIEW_COLUMNS: Final = ("id", "session_id", "content", "project", "origin", *TIMES)


@dataclass(frozen=True, slots=True)
class Session:
    """A session that claude-mem watched.

    Attributes:
        key: the agent's id of it; None when it is not said.
        platform: the agent, as claude-mem names it; early versions did not, and knew few others.
        project: name of its folder.
        title: the title that its owner gave it.
    """

    key: str | None
    platform: str
    project: str | None
    title: str | None

    @property
    def shared_key(self) -> str | None:
        """Its key, if Cloxy knows it by the same agent and key; else None."""
        return self.key if self.platform == PLATFORM else None


def content_id(record: Record) -> str | None:
    """The agent's id of a session."""
    return text_of(record["content_session_id"]) or text_of(record["claude_session_id"])


def memory_id(record: Record) -> str | None:
    """Id of the session in which claude-mem wrote about another one."""
    return text_of(record["memory_session_id"]) or text_of(record["sdk_session_id"])


def _time(record: Record, name: str = "created_at") -> int | None:
    at = moment(record[f"{name}_epoch"])
    return at if at is not None else moment(record[name])


def _uid(kind: str, record: Record, name: str = "created_at") -> str:
    # The number alone would be another row's in the database of another machine.
    return f"{kind}:{record['id']}:{_time(record, name) or 0}"


def _of_session(record: Record, session: Session | None) -> dict[str, object]:
    """What is said of the session under the names of claude-mem."""
    return stated(
        {
            "memory_session_id": memory_id(record),
            "content_session_id": session.key if session else None,
            "platform_source": session.platform if session else None,
            "session_title": session.title if session else None,
        }
    )


def _listed(value: object) -> list[object] | str | None:
    """A list in JSON; where it is none, the text as it is, however it was meant."""
    return json_list(value) or (text_of(value) if json_of(value) not in ([], {}) else None)


def _lines(value: object) -> str | None:
    """A list in JSON as lines."""
    listed = _listed(value)
    if isinstance(listed, list):
        lines = [f"- {each.strip()}" for each in listed if isinstance(each, str) and each.strip()]
        return "\n".join(lines) or None
    return listed


def _told_of(record: Record) -> str | None:
    """Words of an observation: its title, what it tells, and the facts in it."""
    body = text_of(record.get("narrative")) or text_of(record["text"])
    parts = (text_of(record["title"]), text_of(record["subtitle"]), body, _lines(record["facts"]))
    return "\n\n".join(part for part in parts if part) or None


def observation(record: Record, session: Session | None, told: Told) -> Iterator[ForeignNote]:
    """What a model saw in a session."""
    text = _told_of(record)
    if text is None:
        told.pass_over(f"observations: row {record['id']} holds no text")
        return
    lists = {
        name: _listed(record[name])
        for name in ("facts", "concepts", "files_read", "files_modified")
    }
    _count(told, "types of observations", record["type"])
    _count(told, "concepts of observations", lists["concepts"])
    _count(told, "files of observations", lists["files_read"] or lists["files_modified"])
    names = ("type", "title", "subtitle", "agent_type", "agent_id", "merged_into_project")
    yield ForeignNote(
        uid=_uid("observation", record),
        text=text,
        at=_time(record),
        project=text_of(record["project"]),
        sort="observation",
        metadata={
            "machine_made": True,
            **stated({name: text_of(record[name]) for name in names}),
            **stated(lists),
            **stated(
                {
                    "generated_by_model": text_of(record["generated_by_model"]),
                    "prompt_number": whole(record["prompt_number"]),
                    "discovery_tokens": whole(record["discovery_tokens"]) or None,
                    "metadata": json_of(record["metadata"]),
                }
            ),
            **_of_session(record, session),
        },
    )


def _count(told: Told, words: str, value: object) -> None:
    if value:
        told.homeless[words] += 1


def prompt(record: Record, session: Session | None, told: Told) -> Iterator[ForeignNote]:
    """What somebody asked, of the table of prompts."""
    text = text_of(record["prompt_text"])
    if text is None:
        told.pass_over(f"user_prompts: row {record['id']} holds no text")
        return
    yield _prompt(_uid("prompt", record), text, _time(record), record, session)


def first_prompt(record: Record, session: Session | None) -> Iterator[ForeignNote]:
    """What somebody asked first, of the table of sessions."""
    text = text_of(record["user_prompt"])
    if text is not None:
        uid, at = _uid("session", record, "started_at"), _time(record, "started_at")
        yield _prompt(uid, text, at, record, session)


def _prompt(
    uid: str, text: str, at: int | None, record: Record, session: Session | None
) -> ForeignNote:
    return ForeignNote(
        uid=uid,
        text=text,
        at=at,
        project=session.project if session else None,
        sort="prompt",
        metadata=stated(
            {
                "role": "user",
                "content_session_id": content_id(record),
                "platform_source": session.platform if session else None,
                "session_title": session.title if session else None,
                "prompt_number": whole(record.get("prompt_number")),
            }
        ),
    )


def directive(record: Record, told: Told) -> Iterator[ForeignNote]:
    """A rule for all sessions, or for those of a project."""
    text = text_of(record["content"])
    if text is None:
        told.pass_over(f"directives: row {record['id']} holds no text")
        return
    _count(told, "scopes and states of directives", True)
    yield ForeignNote(
        uid=_uid("directive", record),
        text=text,
        at=_time(record),
        project=text_of(record["project"]),
        source=text_of(record["source"]),
        sort="directive",
        metadata=stated(
            {
                "scope": text_of(record["scope"]),
                "status": text_of(record["status"]),
                "updated_at": moment(record["updated_at_epoch"]),
            }
        ),
    )


def summary(
    record: Record, session: Session | None, told: Told
) -> Iterator[ForeignNote | ForeignMessage]:
    """What a model wrote about a session when it ended or paused."""
    parts = [
        f"{words}: {text}" for name, words in _PARTS.items() if (text := text_of(record[name]))
    ]
    if not parts:
        told.pass_over(f"session_summaries: row {record['id']} holds no text")
        return
    project, uid, at = text_of(record["project"]), _uid("summary", record), _time(record)
    if session is not None and (key := session.shared_key) is not None:
        files = [
            f"{words}:\n{lines}"
            for name, words in _FILES.items()
            if (lines := _lines(record[name]))
        ]
        yield _said(key, uid, "\n\n".join(parts + files), at, project, session.title)
        return
    names = ("prompt_number", "discovery_tokens")
    yield ForeignNote(
        uid=uid,
        text="\n\n".join(parts),
        at=at,
        project=project,
        sort="summary",
        metadata={
            "machine_made": True,
            **stated({name: _listed(record[name]) for name in _FILES}),
            **stated({name: whole(record[name]) or None for name in names}),
            **stated({"merged_into_project": text_of(record["merged_into_project"])}),
            **_of_session(record, session),
        },
    )


def _said(
    key: str, uid: str, text: str, at: int | None, project: str | None, title: str | None = None
) -> ForeignMessage:
    """A summary in its session.

    The name of the project stands in its words. As the session's project it would stay there,
    and keep the folder away that the agent's own log tells.
    """
    return ForeignMessage(
        agent=AGENT,
        session=key,
        uid=f"claude-mem:{uid}",
        role="summary",
        text=f"Project: {project}\n\n{text}" if project else text,
        at=at,
        title=title,
    )


def memory(record: Record, told: Told) -> Iterator[ForeignNote]:
    """What a model kept of a session, in the early generation."""
    text = _told_of(record)
    if text is None:
        told.pass_over(f"memories: row {record['id']} holds no text")
        return
    lists = {name: _listed(record[name]) for name in ("facts", "concepts", "files_touched")}
    _count(told, "concepts of memories", lists["concepts"])
    _count(told, "keywords of memories", text_of(record["keywords"]))
    names = ("title", "subtitle", "keywords", "document_id", "session_id", "archive_basename")
    yield ForeignNote(
        uid=_uid("memory", record),
        text=text,
        at=_time(record),
        project=text_of(record["project"]),
        source=text_of(record["origin"]),
        metadata={
            "machine_made": True,
            **stated({name: text_of(record[name]) for name in names}),
            **stated(lists),
        },
    )


def overview(record: Record, told: Told) -> Iterator[ForeignMessage]:
    """What a model wrote about a session, in the early generation."""
    key, text = text_of(record["session_id"]), text_of(record["content"])
    if key is None or text is None:
        told.pass_over(f"overviews: row {record['id']} holds no text, or no session")
        return
    yield _said(key, _uid("overview", record), text, _time(record), text_of(record["project"]))
