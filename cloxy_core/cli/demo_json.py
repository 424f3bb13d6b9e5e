"""The demonstration as an object for programs."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from cloxy_core.cli.demo_text import reasons
from cloxy_core.demo.shown import Answer, Demonstration
from cloxy_hookspecs import Query, RecallHit


def as_object(shown: Demonstration, kept: Path | None) -> Mapping[str, object]:
    """Everything that the text says, and the parts of each score.

    Args:
        shown: what came out.
        kept: the folder that stays; None when nothing does.
    """
    return {
        "files": shown.files,
        "memories": shown.memories,
        "messages": shown.messages,
        "projects": shown.projects,
        "model": shown.model,
        "embedded": shown.embedded,
        "trouble": shown.trouble,
        "answers": [_answer(answer) for answer in shown.answers],
        "redacted": shown.redacted,
        "folder": None if kept is None else str(kept.expanduser().absolute()),
    }


def _answer(answer: Answer) -> Mapping[str, object]:
    recall = answer.recall
    return {
        "shows": answer.question.shows,
        "query": answer.question.text,
        "channels": list(recall.channels),
        "notes": list(recall.notes),
        "results": [_hit(hit, recall.query) for hit in recall.hits],
    }


def _hit(hit: RecallHit, query: Query) -> Mapping[str, object]:
    passage = hit.passages[0]
    return {
        "ts": None if passage.at is None else _instant(passage.at),
        "project": hit.project,
        "title": hit.metadata.get("title"),
        "role": passage.role,
        "text": passage.text,
        "score": round(hit.score, 6),
        "similarity": hit.similarity,
        "keyword_rank": hit.keyword_rank,
        "parts": dict(passage.parts),
        "why": list(reasons(hit, query)),
    }


def _instant(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
