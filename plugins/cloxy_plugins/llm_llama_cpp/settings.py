"""Settings of llama.cpp."""

from typing import Any

from cloxy_hookspecs import Setting


def parse_layers(text: str) -> int | None:
    """Layers of a model; None for an empty text or `auto`.

    Raises:
        ValueError: it is no such number.
    """
    word = text.strip().lower()
    if word in {"", "auto"}:
        return None
    layers = int(word)
    if layers < -1:
        raise ValueError("a number of layers, -1 for all, or auto")
    return layers


GPU_LAYERS: Setting[int | None] = Setting(
    name="llm_llama_cpp.gpu_layers",
    default=None,
    parse=parse_layers,
    help="Layers of a model on the GPU, -1 for all; auto: all on Apple Silicon, none elsewhere.",
)


def parse_maybe(text: str) -> bool | None:
    """On, off, or None for an empty text or `auto`.

    Raises:
        ValueError: it is none of them.
    """
    word = text.strip().lower()
    if word in {"", "auto"}:
        return None
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise ValueError("1, 0 or auto")


REPACK: Setting[bool | None] = Setting(
    name="llm_llama_cpp.repack",
    default=None,
    parse=parse_maybe,
    help="Whether weights are rearranged for the processor; auto: unless it has Intel's AMX.",
)

SETTINGS: tuple[Setting[Any], ...] = (GPU_LAYERS, REPACK)
