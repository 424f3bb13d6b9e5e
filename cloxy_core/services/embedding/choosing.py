"""Which embedder the settings ask for."""

import difflib
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloxy_core.core_settings import EMBED_DIM, EMBED_PROVIDER
from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.kernel.registry import NONE, Registry
from cloxy_core.kernel.settings import Settings
from cloxy_hookspecs import (
    EMBED_MODEL,
    ConfigError,
    Embedder,
    EmbedderInfo,
    EmbedderProvider,
    PluginError,
    SettingError,
)
from cloxy_hookspecs.seats import EMBEDDERS

NEAR = 3

log = logging.getLogger("cloxy.core")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The embedder that the settings ask for.

    Attributes:
        provider: name of its record; empty for none.
        embedder: it; None when there is none, or it cannot be made.
        info: what it is.
        trouble: why there is none, in words.
    """

    provider: str = ""
    embedder: Embedder | None = None
    info: EmbedderInfo | None = None
    trouble: str | None = None


Maker = Callable[[EmbedderProvider], Embedder]
"""Makes what a record stands for; what it raises is a `PluginError`."""


def choose_embedder(registry: Registry, settings: Settings, make: Maker) -> Chosen:
    """The embedder, made but not loaded; one that cannot be made is a reason, not an error.

    Raises:
        SettingError: the settings name what is not there, or contradict it.
    """
    record = choose_record(registry, settings)
    if record is None:
        wanted = str(settings[EMBED_PROVIDER])
        words = f"{EMBED_PROVIDER.name} is {NONE}"
        if wanted != NONE:
            words = f"no enabled plugin brings the embedder {wanted!r}"
        return Chosen(trouble=words)
    try:
        embedder = make(record)
    except PluginError as error:
        if isinstance(error.__cause__, ConfigError):
            raise error.__cause__ from None
        return Chosen(record.name, trouble=str(error))
    found = contained(lambda: embedder.info)
    if isinstance(found, Failure):
        log.error("the embedder %s does not say what it is", record.name, exc_info=found.error)
        words = f"the embedder {record.name!r} does not say what it is; see the log"
        return Chosen(record.name, trouble=words)
    _require_dimension(settings, found.value)
    return Chosen(record.name, embedder, found.value)


def choose_record(registry: Registry, settings: Settings) -> EmbedderProvider | None:
    """The record of the embedder; None when nothing is to be embedded.

    Raises:
        SettingError: there is no such embedder, or none that runs the model.
    """
    named = registry.optional(EMBEDDERS, settings)
    model = settings[EMBED_MODEL]
    if not model or str(settings[EMBED_PROVIDER]) == NONE:
        return named
    others = [record for record in registry.all(EMBEDDERS) if record is not named]
    records = [*filter(None, [named]), *others]
    for record in records:
        if serves(record, model):
            return record
    if is_folder(model):
        for record in records:
            if record.folders:
                return record
    place = settings.explain(EMBED_MODEL.name).place
    raise SettingError(
        f"{EMBED_MODEL.name} ({place}): no enabled plugin runs the model {model!r}",
        hint=_advice(model, [name for record in records for name in record.models]),
    )


def serves(record: EmbedderProvider, model: str) -> bool:
    """Whether an embedder runs a model: by its whole name or its last part, whatever the case."""
    return any(serves_name(name, model) for name in record.models)


def serves_name(name: str, model: str) -> bool:
    """Whether a setting names a model: by its whole name or its last part, whatever the case."""
    return model.casefold() in (name.casefold(), _last(name))


def is_folder(model: str) -> bool:
    """Whether the name of a model is the path of a folder that is there."""
    try:
        return Path(model).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError):
        return False


def _require_dimension(settings: Settings, info: EmbedderInfo) -> None:
    wanted = settings[EMBED_DIM]
    if wanted and wanted != info.space.dim:
        place = settings.explain(EMBED_DIM.name).place
        raise SettingError(
            f"{EMBED_DIM.name} ({place}) is {wanted}, but vectors of {info.space.model} have"
            f" {info.space.dim} dimensions",
            hint=f"leave {EMBED_DIM.name} out, or choose another {EMBED_MODEL.name}",
        )


def _advice(model: str, known: Sequence[str]) -> str:
    if not known:
        return "no enabled plugin brings an embedder; see `cloxy plugins list`"
    near = _near(model, known)
    if near:
        return "did you mean " + " or ".join(repr(name) for name in near) + "?"
    looks_like_path = any(mark in model for mark in ("\\", "./", "~")) or model.startswith("/")
    if looks_like_path:
        return "there is no such folder"
    return "models that can be run: " + ", ".join(sorted(known))


def _near(model: str, known: Iterable[str]) -> Sequence[str]:
    """Names like it, by their last part."""
    by_part: dict[str, str] = {}
    for name in known:
        by_part.setdefault(_last(name), name)
    found = difflib.get_close_matches(_last(model), by_part, n=NEAR, cutoff=0.6)
    return [by_part[part] for part in found]


def _last(name: str) -> str:
    return name.casefold().rstrip("/\\").replace("\\", "/").rpartition("/")[2]
