"""Messages whose words are missing, though their kind always has some."""

from cloxy_hookspecs.logs.json_values import Record, has_nearly, list_of, record_of
from cloxy_plugins.cline.kinds import ASKED, PROGRESS, SAID, SUMMARIES, SUMMARY_TOOL, TYPED
from cloxy_plugins.cline.words import fields_in

_WORDED = {
    "say": SAID | TYPED | {"task", PROGRESS},
    "ask": ASKED | SUMMARIES,
}


def lacks_words(record: Record, name: str) -> bool:
    """Whether a message has not even empty words, where its kind always has some."""
    if name == "condense_context":
        condensed = record_of(record.get("contextCondense"))
        return record.get("partial") is not True and not _has_text(condensed, "summary")
    text = record.get("text")
    if not isinstance(text, str):
        return name in _WORDED[str(record["type"])] and not _may_be_wordless(record, name)
    if name == "tool":
        fields = fields_in(text) if SUMMARY_TOOL in text[:200] else None
        summed_up = fields is not None and fields.get("tool") == SUMMARY_TOOL
        return summed_up and not _has_text(record_of(fields), "content")
    asked = record["type"] == "ask" and name in ASKED | SUMMARIES and name != "completion_result"
    fields = fields_in(text) if asked else None
    keys = ("context",) if name in SUMMARIES else ("response", "question")
    return fields is not None and not _has_text(fields, *keys)


def _may_be_wordless(record: Record, name: str) -> bool:
    """Whether a message may be one without a text: with pictures, or a result said before."""
    if "text" in record:
        return False
    if list_of(record.get("images")) or list_of(record.get("files")):
        return True
    ended = record["type"] == "say" and name == "completion_result"
    return ended and not has_nearly(record, "text")


def _has_text(record: Record, *keys: str) -> bool:
    return any(isinstance(record.get(key), str) for key in keys)
