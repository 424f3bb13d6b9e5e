"""Reading fields of answers without trusting their shape."""

from collections.abc import Iterator, Mapping
from datetime import datetime


def text(record: Mapping[str, object], name: str) -> str:
    """A field as text; empty when it is missing or null."""
    value = record.get(name)
    return "" if value is None else value if isinstance(value, str) else str(value)


def number(record: Mapping[str, object], name: str) -> float | None:
    """A field as number; None when it is missing or something else."""
    value = record.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def count(record: Mapping[str, object], name: str) -> int:
    """A field as whole number; 0 when it is missing or something else."""
    return int(number(record, name) or 0)


def record(owner: Mapping[str, object], name: str) -> Mapping[str, object]:
    """A field as object; empty when it is missing or something else."""
    value = owner.get(name)
    return value if isinstance(value, dict) else {}


def items(owner: Mapping[str, object], name: str) -> list[object]:
    """A field as list; empty when it is missing or something else."""
    value = owner.get(name)
    return value if isinstance(value, list) else []


def records(owner: Mapping[str, object], name: str) -> Iterator[Mapping[str, object]]:
    """The objects in a list field."""
    return (value for value in items(owner, name) if isinstance(value, dict))


def local_time(stamp: str) -> str:
    """An ISO instant as local date and minute; what cannot be read is returned as it is."""
    try:
        moment = datetime.fromisoformat(stamp)
        return moment.astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return stamp


def duration(seconds: float) -> str:
    """A span of time in its largest unit and the one below it."""
    left = max(0, round(seconds))
    sizes = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    first = next((i for i, (_, size) in enumerate(sizes) if left >= size), len(sizes) - 1)
    parts = []
    for unit, size in sizes[first : first + 2]:
        amount, left = divmod(left, size)
        if amount:
            parts.append(f"{amount} {unit}")
    return " ".join(parts) or "0 s"


def local_time_of(seconds: float) -> str:
    """Seconds since the epoch as local date and minute."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def size(count: int) -> str:
    """A number of bytes in the unit that suits it."""
    if abs(count) < 1000:
        return f"{count:,} bytes"
    amount, units = count / 1000, ["kB", "MB", "GB", "TB"]
    while abs(amount) >= 1000 and len(units) > 1:
        amount /= 1000
        del units[0]
    return f"{amount:,.1f} {units[0]}"
