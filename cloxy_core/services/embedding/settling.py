"""Which space counts: that of the stored vectors, or the one that the settings ask for."""

from dataclasses import dataclass
from functools import partial

from cloxy_core.core_settings import EMBED_PROVIDER
from cloxy_core.kernel.settings import Layer, Settings
from cloxy_core.services.embedding.spaces import activate, active_space, has_vectors
from cloxy_hookspecs import Clock, EmbeddingSpace, EmbeddingSpaceMismatchError, StorePort

CHOSEN_BY = ("embed.model", "embed.query_prefix", "embed.passage_prefix", "embed.dim")
"""Settings that say in which space somebody wants to be."""


@dataclass(frozen=True, slots=True)
class Spaces:
    """The spaces of a database."""

    store: StorePort
    settings: Settings
    clock: Clock

    async def settle(self, space: EmbeddingSpace) -> int:
        """Make the embedder's space the one that counts; its id.

        Stored vectors of another space stand in the way only of somebody who asked for this one;
        a new default takes their place.

        Raises:
            EmbeddingSpaceMismatchError: there are such vectors, and somebody asked.
            StoreError: the store cannot be written now.
        """
        active = await self.store.read(active_space)
        if active is not None and active.space.fingerprint == space.fingerprint:
            return active.id
        if active is not None and await self.store.read(partial(has_vectors, space_id=active.id)):
            self._require_not_asked_for(space, active.space)
        return await self.adopt(space)

    async def adopt(self, space: EmbeddingSpace) -> int:
        """Make a space the one that counts, whatever was; its id.

        Raises:
            StoreError: the store cannot be written now.
        """
        now = self.clock.now_ms()
        return await self.store.write(lambda connection: activate(connection, space, now))

    def _require_not_asked_for(self, space: EmbeddingSpace, stored: EmbeddingSpace) -> None:
        # Who names a provider asks for its model, but not for certain weights of it.
        by_provider = (EMBED_PROVIDER.name,) if space.model != stored.model else ()
        explained = [self.settings.explain(name) for name in (*by_provider, *CHOSEN_BY)]
        places = [each.place for each in explained if each.layer is not Layer.DEFAULT]
        if places:
            raise EmbeddingSpaceMismatchError(
                f"{', '.join(places)}: this asks for vectors of {_named(space)}, but the stored"
                f" ones are of {_named(stored)}",
                hint="run `cloxy reembed` to make all vectors anew, or take the setting back",
            )


def _named(space: EmbeddingSpace) -> str:
    prefixes = [repr(each) for each in (space.query_prefix, space.passage_prefix) if each]
    with_prefixes = f", prefixes {' and '.join(prefixes)}" if prefixes else ""
    return f"{space.model} ({space.revision[:12]}, {space.dim} dimensions{with_prefixes})"
