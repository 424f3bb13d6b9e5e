"""The port `Reembedder`: vectors of the model that the settings name now, beside the old ones."""

from collections.abc import Callable, Mapping
from functools import partial

from cloxy_core.core_settings import EMBED_DIM, EMBED_PROVIDER
from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.kernel.settings import Settings
from cloxy_core.services.embedding.choosing import Chosen, serves_name
from cloxy_core.services.embedding.making import Embedders, close_embedder
from cloxy_core.services.embedding.moving import Tell
from cloxy_core.services.embedding.service import EmbeddingService
from cloxy_core.services.embedding.spaces import drop_dormant
from cloxy_core.services.embedding.status import SpaceStatus, read_spaces
from cloxy_hookspecs import (
    EMBED_MODEL,
    EMBED_PASSAGE_PREFIX,
    EMBED_QUERY_PREFIX,
    ConflictError,
    InputError,
    ModelMissingError,
    ReembedStatus,
    StoredVectors,
    StorePort,
)

COMPARED = (EMBED_PROVIDER, EMBED_MODEL, EMBED_QUERY_PREFIX, EMBED_PASSAGE_PREFIX, EMBED_DIM)
"""Settings that whoever asks may believe to be others."""


class Reembedding:
    """Begins, shows and ends the change to another space."""

    def __init__(
        self,
        service: EmbeddingService,
        embedders: Embedders,
        store: StorePort,
        reread: Callable[[], Settings],
    ) -> None:
        """Do nothing yet.

        Args:
            service: has the spaces in use.
            embedders: make what embeds.
            store: the database.
            reread: the settings with the file as it is at this moment.
        """
        self._service = service
        self._moving = service.moving
        self._embedders = embedders
        self._store = store
        self._reread = reread

    async def start(self, expected: Mapping[str, str] | None = None) -> ReembedStatus:
        """Begin with the model and prefixes that the settings name now, or go on.

        Raises:
            ConflictError: the settings say otherwise than whoever asks believes, or vectors of a
                third model are being made.
            SettingError: the settings cannot be used.
            ModelMissingError: there is no such model.
        """
        settings = self._reread()
        _require_expected(settings, expected or {})
        chosen = self._embedders.as_set(settings)
        if chosen.info is None or chosen.embedder is None:
            raise _no_model(chosen)
        side, space = self._moving.side, chosen.info.space
        if (side is not None and side.info.space == space) or self._service.active == space:
            close_embedder(chosen.embedder)
            if side is not None and side.info.space != space:
                raise _another(side.info.space.model)
            self._moving.hurry()
            return await self.status()
        if side is not None:
            close_embedder(chosen.embedder)
            raise _another(side.info.space.model)
        await self._moving.begin(chosen)
        self._service.tidy_soon()
        return await self.status()

    async def now(self, tell: Tell | None = None) -> ReembedStatus:
        """Do all of it at once, without a server around.

        Args:
            tell: is told passages done and passages to do.

        Raises:
            CloxyError: there is no model, or it or the store cannot be used; what was done stays.
        """
        chosen = self._service.chosen
        if chosen.info is None or chosen.embedder is None:
            raise _no_model(chosen)
        await self._moving.fill_now(chosen, tell)
        await self._service.tidy()
        return await self.status()

    async def status(self) -> ReembedStatus:
        """How far it is."""
        moving, side = self._moving, self._moving.side
        spaces = await self._store.read(read_spaces)
        filling = side.filling if side is not None else self._service.filling
        failed = 0 if filling is None else (await filling.figures())[2]
        rate = 0.0 if side is None else side.filling.rate.per_second()
        left = max(0, moving.total - moving.done)
        return ReembedStatus(
            run=moving.run,
            state=moving.state,
            reason=moving.reason,
            model=self._service.model if side is None else side.info.space.model,
            done=moving.done,
            total=moving.total,
            failed=failed,
            seconds=moving.seconds,
            rate_per_second=rate,
            eta_seconds=left / rate if moving.state == "filling" and rate else None,
            spaces=tuple(_told(each) for each in spaces),
        )

    async def cancel(self) -> bool:
        """Stop, and remove what was made; whether there was anything.

        Raises:
            StoreError: the store cannot be written now; it goes on.
        """
        dropped = await self._moving.cancel()
        self._service.tidy_soon()
        return dropped

    async def drop_old(self) -> int:
        """Remove vectors that are kept and not used, behind everything else; of how many spaces.

        Raises:
            StoreError: the store cannot be written now.
        """
        dropped = await self._store.write(drop_dormant, durable=True)
        self._service.tidy_soon()
        return dropped


def _no_model(chosen: Chosen) -> ModelMissingError:
    why = chosen.trouble or f"{EMBED_PROVIDER.name} names none"
    return ModelMissingError(
        f"there is no model to embed with: {why}",
        hint=f"set {EMBED_PROVIDER.name} (or {EMBED_PROVIDER.variable}), or take the setting back",
    )


def _another(model: str) -> ConflictError:
    return ConflictError(
        f"vectors of {model} are being made already",
        hint="wait for them, or stop it with `cloxy reembed --cancel`",
    )


def _require_expected(settings: Settings, expected: Mapping[str, str]) -> None:
    """Refuse what another place than the server's settings asks for."""
    known = {setting.name: setting for setting in COMPARED}
    for name, text in expected.items():
        if name not in known:
            raise InputError(f"{name!r} does not choose a model", hint=", ".join(known))
        setting, own = known[name], settings.named(name)
        parsed = contained(partial(setting.parse, text))
        wanted = None if isinstance(parsed, Failure) else parsed.value
        is_same = own == wanted or (
            name == EMBED_MODEL.name and bool(own) and serves_name(str(own), text)
        )
        if not is_same:
            shown = "unset" if own in (None, "", 0) else repr(own)
            raise ConflictError(
                f"{setting.variable} is {text!r} here, but for the running server {name} is"
                f" {shown} ({settings.explain(name).place})",
                hint=f"put {name} into config.toml of the server's data directory and run `cloxy"
                " reembed` without the variable, or restart the server with it",
            )


def _told(space: SpaceStatus) -> StoredVectors:
    return StoredVectors(
        space.model,
        space.dim,
        space.query_prefix,
        space.passage_prefix,
        space.state,
        space.vectors,
        space.backlog,
    )
