"""Embedders beside the one of the start: as the settings are now, or as stored vectors need it."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from cloxy_core.core_settings import EMBED_DIM
from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.kernel.registry import Registry
from cloxy_core.kernel.settings import Settings
from cloxy_core.services.embedding.choosing import Chosen, choose_embedder, is_folder, serves
from cloxy_core.store.legacy.vectors import AS_FOUND, ORIGINAL_EMBEDDER
from cloxy_hookspecs import (
    EMBED_MODEL,
    EMBED_PASSAGE_PREFIX,
    EMBED_QUERY_PREFIX,
    CloxyError,
    Embedder,
    EmbedderProvider,
    EmbeddingSpace,
    HostContext,
    PluginError,
    Setting,
    SettingsView,
)
from cloxy_hookspecs.seats import EMBEDDERS

T = TypeVar("T")

log = logging.getLogger("cloxy.core")


@dataclass(frozen=True, slots=True)
class Instead:
    """Settings of which some have another value."""

    settings: SettingsView
    values: Mapping[str, object]

    def __getitem__(self, setting: Setting[T]) -> T:
        """The value that is to be taken instead, or else the setting's own."""
        if setting.name in self.values:
            return cast("T", self.values[setting.name])
        return self.settings[setting]


@dataclass(frozen=True, slots=True)
class Embedders:
    """Makes embedders; whoever asks for one closes it.

    Attributes:
        registry: has the records.
        settings: as the server was started with them.
        context: the context of the plugin of a record, with other settings.
    """

    registry: Registry
    settings: Settings
    context: Callable[[EmbedderProvider, SettingsView], HostContext]

    def as_set(self, settings: Settings) -> Chosen:
        """The embedder that settings ask for; not loaded.

        Raises:
            SettingError: the settings name what is not there, or contradict it.
        """
        return choose_embedder(self.registry, settings, lambda record: self._made(record, settings))

    def of_space(self, space: EmbeddingSpace, *, fetch: bool = False) -> Chosen | None:
        """An embedder whose vectors can be compared with those of a space; None without one.

        May take a second; not for the loop.

        Args:
            space: the space.
            fetch: whether its model may have to be downloaded when it is loaded.
        """
        values: Mapping[str, Any] = {
            EMBED_MODEL.name: self._model(space),
            EMBED_QUERY_PREFIX.name: space.query_prefix,
            EMBED_PASSAGE_PREFIX.name: space.passage_prefix,
            EMBED_DIM.name: 0,
        }
        settings = Instead(self.settings, values)
        for record in self.registry.all(EMBEDDERS):
            runs = serves(record, space.model) or (
                record.folders and is_folder(str(values[EMBED_MODEL.name]))
            )
            if runs and (found := self._fitting(record, settings, space, fetch)) is not None:
                return found
        return None

    def _model(self, space: EmbeddingSpace) -> str:
        """What to call the model of a space: a folder only by the path that is set."""
        own = contained(lambda: self.settings[EMBED_MODEL])
        named = "" if isinstance(own, Failure) else own.value
        folder = named.rstrip("/\\").replace("\\", "/").rpartition("/")[2] == space.model
        return named if folder and is_folder(named) else space.model

    def _fitting(
        self,
        record: EmbedderProvider,
        settings: SettingsView,
        space: EmbeddingSpace,
        fetch: bool,
    ) -> Chosen | None:
        def make() -> tuple[Embedder, bool]:
            context = self.context(record, settings)
            embedder = record.create(context)
            fits = is_same_space(embedder.info.space, record, space)
            return embedder, fits and (fetch or record.at_hand(context))

        made = contained(make)
        if isinstance(made, Failure):
            log.info(
                "the embedder %s cannot be made for %s: %s", record.name, space.model, made.words
            )
            return None
        embedder, fits = made.value
        if not fits:
            close_embedder(embedder)
            return None
        return Chosen(record.name, embedder, embedder.info)

    def _made(self, record: EmbedderProvider, settings: SettingsView) -> Embedder:
        made = contained(lambda: record.create(self.context(record, settings)))
        if not isinstance(made, Failure):
            return made.value
        error = made.error
        if isinstance(error, PluginError):
            raise error
        words = str(error) if isinstance(error, CloxyError) else made.words
        raise PluginError(f"{record.name!r} could not be made: {words}") from error


def is_same_space(made: EmbeddingSpace, record: EmbedderProvider, stored: EmbeddingSpace) -> bool:
    """Whether an embedder is of a stored space.

    An old database says nothing of weights; its vectors were made by one library, whose model of
    that name they are compared with.
    """
    if stored.revision == AS_FOUND and record.name == ORIGINAL_EMBEDDER:
        made = replace(made, revision=AS_FOUND)
    return made == stored


def close_embedder(embedder: Embedder) -> None:
    """Let an embedder give its memory back; one that fails at it is left alone."""
    close = getattr(embedder, "close", None)
    if callable(close):
        contained(close)
