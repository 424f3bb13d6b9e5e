"""Spaces of vectors in words."""

from collections.abc import Iterable, Mapping

from cloxy_core.cli import fields, output

_STATES = {
    "active": "in use",
    "filling": "being made",
    "dormant": "kept, not used (`cloxy reembed --drop-old` removes them)",
    "leaving": "being removed",
}


def show_spaces(spaces: Iterable[Mapping[str, object]]) -> None:
    """Print a line for each space that holds vectors or is to hold some."""
    for space in spaces:
        output.print_line(output.escape(space_line(space)))


def space_line(space: Mapping[str, object]) -> str:
    """One space: model, prefixes, vectors, and what becomes of it."""
    parts = [f"{fields.text(space, 'model')} ({fields.count(space, 'dim')} dimensions)"]
    for name, label in (("query_prefix", "questions"), ("passage_prefix", "passages")):
        if fields.text(space, name):
            parts.append(f"prefix of {label} {fields.text(space, name)!r}")
    parts.append(f"{fields.count(space, 'vectors'):,} vectors")
    if fields.count(space, "backlog"):
        parts.append(f"{fields.count(space, 'backlog'):,} to go")
    state = fields.text(space, "state")
    return f"{', '.join(parts)}: {_STATES.get(state, state)}"
