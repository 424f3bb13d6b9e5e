"""Whether a prompt is that of a recipe, a stored task, rather than what a person typed."""

import re

from cloxy_hookspecs.logs.json_values import decode, record_of, words_of

_PLACE = re.compile(r"\{\{[^{}]{0,200}\}\}")


def prompt_of(recipe: object) -> str:
    """The prompt of a recipe, with places such as `{{ name }}` for values; empty for none.

    Args:
        recipe: the recipe, or its JSON.
    """
    if isinstance(recipe, (str, bytes)):
        try:
            recipe = decode(recipe)
        except ValueError:
            return ""
    return words_of(record_of(recipe), "prompt")


def is_from(prompt: str, text: str) -> bool:
    """Whether a text is a prompt with any values in its places.

    A prompt that is nothing but a place says what a person filled in.
    """
    first, *others = (piece for piece in _PLACE.split(prompt.strip()))
    text = text.strip()
    if not others:
        return bool(first) and text == first
    if not any(piece.strip() for piece in (first, *others)):
        return False
    last = others.pop()
    if not text.startswith(first):
        return False
    position = len(first)
    for piece in others:
        found = text.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return len(text) - len(last) >= position and text.endswith(last)
