"""What a record of a damaged line is known by."""

from cloxy_hookspecs.logs.json_lines import LineRecovery
from cloxy_hookspecs.logs.json_values import Record


def is_record(value: Record) -> bool:
    """Whether an object in the middle of a damaged one is a record rather than a part of it."""
    return isinstance(value.get("type"), str) and isinstance(value.get("payload"), dict)


recover = LineRecovery(
    ("timestamp", "ordinal", "type", "payload", "id", "record_type", "role"), is_record
).recover
