"""Names of models that clients send, and what they mean here."""

from collections.abc import Mapping


def resolved(name: str | None, aliases: Mapping[str, str]) -> str | None:
    """The model that a name means; the name itself without an alias.

    A whole name goes before one that ends in `*`, and of those the longest.

    Args:
        name: what the client sent; None for the model that is set.
        aliases: models by name.
    """
    if name is None or name in aliases:
        return aliases.get(name or "")
    patterns = [
        pattern
        for pattern in aliases
        if pattern.endswith("*") and name.startswith(pattern.removesuffix("*"))
    ]
    return aliases[max(patterns, key=len)] if patterns else name
