"""Models that can be set up by name; the data is in `catalogue.json`."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from cloxy_hookspecs.errors import NotFoundError

ModelFormat = Literal["gguf", "mlx"]

FILE: Final = Path(__file__).with_name("catalogue.json")
_SIGNS: Final = re.compile(r"[^a-z0-9.]+")
_OVERHEAD: Final = 1.08
_BASE_GB: Final = 0.3
LOAD_CONTEXT: Final = 8192
"""The context for which `load_gb` is told."""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A model in one format.

    Attributes:
        name: short name for people; the same in both formats.
        family: models that come of one line.
        tier: `tiny`, `small`, `medium`, `large`, `xlarge` or `absurd`.
        format: form of its files.
        id: its Hugging Face id.
        file: which file of a GGUF repository; None for a whole MLX repository.
        size_gb: size of its files, 10^9 bytes.
        load_gb: memory that it takes with 8192 tokens of context, 10^9 bytes.
        cache_kb_per_token: memory for each token of its context, 10^3 bytes.
        active_share: part of its weights that one token needs.
        context_tokens: longest context that it was made for.
        tools: whether it can call tools.
        licence: as its page names it.
        looked_up: day on which the entry was looked up.
        confirmed: what a page of the hub showed on that day: `id`, `file`, `size`.
        run_here: whether it was run with Cloxy by those who wrote the entry.
        older: kept for who used it with Cloxy 5; there is something better.
        note: what else a person should know.
    """

    name: str
    family: str
    tier: str
    format: ModelFormat
    id: str
    size_gb: float
    load_gb: float
    cache_kb_per_token: float
    active_share: float
    context_tokens: int
    tools: bool
    licence: str
    looked_up: str
    confirmed: tuple[str, ...]
    run_here: bool
    file: str | None = None
    older: bool = False
    note: str = ""

    def needs_gb(self, context: int) -> float:
        """Memory that it takes with a context of so many tokens, 10^9 bytes."""
        return self.size_gb * _OVERHEAD + self.cache_kb_per_token * context / 1e6 + _BASE_GB

    @property
    def active_gb(self) -> float:
        """Weights that are read for every token, 10^9 bytes."""
        return self.size_gb * self.active_share


def load_catalogue(path: Path = FILE) -> tuple[CatalogueEntry, ...]:
    """All entries, as the file has them."""
    entries = json.loads(path.read_text(encoding="utf-8"))["models"]
    return tuple(
        CatalogueEntry(**{**entry, "confirmed": tuple(entry["confirmed"])}) for entry in entries
    )


def find_entry(
    catalogue: Sequence[CatalogueEntry], name: str, kind: ModelFormat | None
) -> CatalogueEntry | None:
    """The entry of a name, however it is written; None when there is none.

    Args:
        catalogue: the entries.
        name: a name or a Hugging Face id.
        kind: the format wanted; None for any.

    Raises:
        NotFoundError: the model is there, and not in this format.
    """
    wanted = plain(name)
    named = [entry for entry in catalogue if wanted in {plain(entry.name), plain(entry.id)}]
    if not named:
        return None
    fitting = [entry for entry in named if kind in {None, entry.format}]
    if not fitting:
        raise NotFoundError(
            f"{named[0].name} is in the catalogue for {named[0].format} only",
            hint=f"this machine runs {kind} models; `cloxy list` shows them",
        )
    return fitting[0]


def plain(name: str) -> str:
    """A name without case and signs, so that `qwen3-4b` finds `Qwen3 4B`."""
    return _SIGNS.sub("", name.casefold())
