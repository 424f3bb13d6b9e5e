"""How much context fits into memory."""

from collections.abc import Mapping
from typing import Final

USUAL_CONTEXT: Final = 8192
LEAST_CONTEXT: Final = 2048
SHARE: Final = 0.5
"""Of the memory that the model leaves free."""
_HALF_FLOAT: Final = 2


def cache_bytes(metadata: Mapping[str, str], tokens: int) -> int:
    """Bytes of keys and values for so many tokens, as 16-bit floats; 0 when that is not known.

    Two matrices a layer, a row a token, of key/value heads times the length of one of them (GGUF
    keys `block_count`, `attention.head_count_kv`, `attention.key_length`).
    """
    arch = metadata.get("general.architecture", "")

    def number(key: str) -> int:
        text = metadata.get(f"{arch}.{key}", "")
        return int(text) if text.isdigit() else 0

    heads = number("attention.head_count")
    length = number("attention.key_length") or (number("embedding_length") // heads if heads else 0)
    values = number("attention.value_length") or length
    row = (number("attention.head_count_kv") or heads) * (length + values)
    return number("block_count") * row * tokens * _HALF_FLOAT


def context_that_fits(
    metadata: Mapping[str, str], trained: int, wanted: int | None, free: int
) -> int:
    """Tokens of context to load a model with.

    Args:
        metadata: of the GGUF file.
        trained: context that it was trained for; 0 when that is not known.
        wanted: what its owner wants; then memory is not looked at.
        free: bytes of memory beside the model.
    """
    most = trained or USUAL_CONTEXT
    if wanted is not None:
        return min(wanted, most)
    tokens = min(most, USUAL_CONTEXT)
    while tokens > LEAST_CONTEXT and cache_bytes(metadata, tokens) > free * SHARE:
        tokens //= 2
    return tokens
