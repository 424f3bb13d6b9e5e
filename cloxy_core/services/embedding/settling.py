"""Which space counts at a start: that of the stored vectors, or the one that the settings ask for.

Vectors of two spaces are never searched together, whatever was interrupted before.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from cloxy_core.core_settings import EMBED_DIM, EMBED_PROVIDER
from cloxy_core.kernel.settings import Layer, Settings
from cloxy_core.services.embedding.choosing import Chosen, serves_name
from cloxy_core.services.embedding.spaces import (
    ACTIVE,
    DORMANT,
    FILLING,
    LEAVING,
    StoredSpace,
    activate,
    all_spaces,
    has_vectors,
    make_active,
    vector_counts,
)
from cloxy_core.store.legacy.vectors import AS_FOUND
from cloxy_hookspecs import (
    EMBED_MODEL,
    EMBED_PASSAGE_PREFIX,
    EMBED_QUERY_PREFIX,
    Clock,
    EmbeddingSpace,
    EmbeddingSpaceMismatchError,
    StorePort,
)

CHOSEN_BY = ("embed.model", "embed.query_prefix", "embed.passage_prefix", "embed.dim")
"""Settings that say in which space somebody wants to be."""

AtHand = Callable[[EmbeddingSpace, bool], Awaitable[Chosen | None]]
"""The embedder of a space where its model is here, or where it may be fetched."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What is to be done with the spaces of a database.

    Attributes:
        active: the space in which questions are asked.
        embedder: its embedder; None where only words can be searched for until `filling` is full.
        filling: the space that will be the active one when it is full.
    """

    active: StoredSpace | None
    embedder: Chosen | None
    filling: StoredSpace | None = None


@dataclass(frozen=True, slots=True)
class Spaces:
    """The spaces of a database."""

    store: StorePort
    settings: Settings
    clock: Clock

    async def settle(self, chosen: Chosen, at_hand: AtHand) -> Settled:
        """Say which space counts, and make it so in the store.

        A space that was being filled for these settings is filled on, while the former one
        answers. Otherwise stored vectors stand in the way only of somebody who asked for another
        space; where nobody did, they stay in use if their model is here, and a new default takes
        their place if it is not.

        Raises:
            EmbeddingSpaceMismatchError: there are such vectors, and somebody asked.
            StoreError: the store cannot be written now.
        """
        assert chosen.info is not None
        wanted = chosen.info.space
        spaces = await self.store.read(all_spaces)
        active = next((each for each in spaces if each.state == ACTIVE), None)
        same = next((each for each in spaces if each.space == wanted), None)
        if same is not None and same.state == ACTIVE and not _has_dormant(spaces):
            return Settled(same, chosen)
        if same is not None and same.state == FILLING:
            embedder = None if active is None else await at_hand(active.space, False)
            return Settled(active, embedder, same)
        return await self._among(spaces, active, chosen, at_hand)

    async def adopt(self, space: EmbeddingSpace) -> StoredSpace:
        """Make a space the one that counts, whatever was.

        Raises:
            StoreError: the store cannot be written now.
        """
        now = self.clock.now_ms()
        space_id = await self.store.write(lambda connection: activate(connection, space, now))
        return StoredSpace(space_id, space)

    async def _among(
        self,
        spaces: tuple[StoredSpace, ...],
        active: StoredSpace | None,
        chosen: Chosen,
        at_hand: AtHand,
    ) -> Settled:
        assert chosen.info is not None
        wanted = chosen.info.space
        stored = await self._fullest(spaces, active)
        if stored is None or stored.space == wanted:
            return Settled(await self._take(active, wanted), chosen)
        if not self._differing(stored.space, wanted):
            # Without a model, prefix or length that somebody set, the vectors that are there win.
            embedder = await at_hand(stored.space, self._is_set(EMBED_MODEL.name))
            if embedder is not None and self._may_embed(embedder.provider):
                await self._keep(stored, active)
                return Settled(stored, embedder)
        is_other = active is None or active.space != wanted
        if is_other and (
            self._differing(stored.space, wanted) or stored.space.revision != AS_FOUND
        ):
            self._require_not_asked_for(wanted, stored.space)
        return Settled(await self._take(active, wanted), chosen)

    async def _take(self, active: StoredSpace | None, wanted: EmbeddingSpace) -> StoredSpace:
        if active is not None and active.space == wanted:
            return active
        return await self.adopt(wanted)

    async def _fullest(
        self, spaces: tuple[StoredSpace, ...], active: StoredSpace | None
    ) -> StoredSpace | None:
        """The space whose vectors are worth most: the active one, unless a dormant one has more."""
        if not any(each.state == DORMANT for each in spaces):
            if active is None or not await self.store.read(
                partial(has_vectors, space_id=active.id)
            ):
                return None
            return active
        counts = await self.store.read(vector_counts)
        kept = [each for each in spaces if each.state in (ACTIVE, DORMANT) and counts.get(each.id)]
        return max(
            kept,
            key=lambda each: (counts[each.id], each.state == ACTIVE, each.id),
            default=None,
        )

    async def _keep(self, stored: StoredSpace, active: StoredSpace | None) -> None:
        """Make a stored space the active one; what a default had begun to fill leaves."""
        if active is not None and active.id == stored.id:
            return
        await self.store.write(partial(make_active, space_id=stored.id, former=LEAVING))

    def _differing(self, stored: EmbeddingSpace, wanted: EmbeddingSpace) -> bool:
        """Whether anything that somebody set is not so in a stored space.

        Who sets a model asks for the passages as it wants them, with their prefix.
        """
        settings, is_set = self.settings, self._is_set
        model = settings[EMBED_MODEL]
        differs = False
        if is_set(EMBED_MODEL.name) and model:
            differs = not serves_name(stored.model, model)
            differs |= wanted.passage_prefix != stored.passage_prefix
        for prefix, own in (
            (EMBED_QUERY_PREFIX, stored.query_prefix),
            (EMBED_PASSAGE_PREFIX, stored.passage_prefix),
        ):
            differs |= (
                is_set(prefix.name) and settings[prefix] is not None and (settings[prefix] != own)
            )
        dim = settings[EMBED_DIM]
        return differs or (is_set(EMBED_DIM.name) and bool(dim) and dim != stored.dim)

    def _is_set(self, name: str) -> bool:
        return self.settings.explain(name).layer is not Layer.DEFAULT

    def _may_embed(self, provider: str) -> bool:
        """Whether nobody named another provider than this one."""
        named_provider = self.settings.explain(EMBED_PROVIDER.name)
        return named_provider.layer is Layer.DEFAULT or named_provider.value == provider

    def _require_not_asked_for(self, space: EmbeddingSpace, stored: EmbeddingSpace) -> None:
        # Who names a provider asks for its model, but not for certain weights of it.
        by_provider = (EMBED_PROVIDER.name,) if space.model != stored.model else ()
        explained = [self.settings.explain(name) for name in (*by_provider, *CHOSEN_BY)]
        places = [each.place for each in explained if each.layer is not Layer.DEFAULT]
        if places:
            raise EmbeddingSpaceMismatchError(
                f"{', '.join(places)}: this asks for vectors of {named(space)}, but the stored"
                f" ones are of {named(stored)}",
                hint="run `cloxy reembed` to make all vectors anew, or take the setting back",
            )


def named(space: EmbeddingSpace) -> str:
    """A space in words: model, weights, dimension and prefixes."""
    prefixes = [repr(each) for each in (space.query_prefix, space.passage_prefix) if each]
    with_prefixes = f", prefixes {' and '.join(prefixes)}" if prefixes else ""
    return f"{space.model} ({space.revision[:12]}, {space.dim} dimensions{with_prefixes})"


def _has_dormant(spaces: tuple[StoredSpace, ...]) -> bool:
    return any(each.state == DORMANT for each in spaces)
