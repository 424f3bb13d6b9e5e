"""What a record of a damaged line is known by."""

from cloxy_hookspecs.logs.json_lines import LineRecovery
from cloxy_hookspecs.logs.json_values import Record


def is_record(value: Record) -> bool:
    """Whether an object in the middle of a damaged one is a record rather than a part of it."""
    message = isinstance(value.get("id"), str) and isinstance(value.get("type"), str)
    return message or "$set" in value or "$rewindTo" in value or "projectHash" in value


recover = LineRecovery(
    ("id", "sessionId", "timestamp", "type", "$set", "$rewindTo"), is_record
).recover
