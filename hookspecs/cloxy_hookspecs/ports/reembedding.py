"""Making all vectors anew with another model, while the former ones answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

MoveState = Literal[
    "idle", "loading", "filling", "paused", "indexing", "switching", "failed", "done", "cancelled"
]


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """A space of vectors in the database.

    Attributes:
        model: its model.
        dim: length of a vector.
        query_prefix: put before a question.
        passage_prefix: put before a passage.
        state: `active` answers, `filling` will when it is full, `dormant` is kept and not used,
            `leaving` is being removed.
        vectors: how many it holds.
        backlog: passages that have none there yet; 0 for a space that gets none.
    """

    model: str
    dim: int
    query_prefix: str
    passage_prefix: str
    state: str
    vectors: int
    backlog: int


@dataclass(frozen=True, slots=True)
class ReembedStatus:
    """How far it is.

    Attributes:
        run: number of the last run since the start of the server; 0 before the first.
        state: `idle` before the first run; `loading` the model, then `filling`, with `paused` and
            `failed` in between, then `indexing`, `switching` and `done`; or `cancelled`.
        reason: why it does not go on, in words; None when it does.
        model: that of the new vectors; that of the active ones when there is nothing new.
        done: passages that got a vector in this run.
        total: passages that this run embeds, as far as is known.
        failed: passages that cannot be embedded.
        seconds: how long the run has taken so far, or took.
        rate_per_second: passages a second, over the last minute of that work.
        eta_seconds: how long the rest will take; None when that is not known.
        spaces: every space of the database.
    """

    run: int
    state: MoveState
    reason: str | None
    model: str
    done: int
    total: int
    failed: int
    seconds: float
    rate_per_second: float
    eta_seconds: float | None
    spaces: tuple[StoredVectors, ...]


class Reembedder(Protocol):
    """Makes all vectors anew, behind everything else."""

    async def start(self, expected: Mapping[str, str] | None = None) -> ReembedStatus:
        """Begin with the model and prefixes that the settings name now, or go on.

        The file of settings is read again; the environment is that of the server's start. Nothing
        happens when the stored vectors are of that model already.

        Args:
            expected: texts of settings by name, as whoever asks believes them to be.

        Raises:
            ConflictError: the settings say otherwise, or vectors of a third model are being made.
            SettingError: the settings cannot be used.
            ModelMissingError: there is no such model.
        """
        ...

    async def status(self) -> ReembedStatus:
        """How far it is."""
        ...

    async def cancel(self) -> bool:
        """Stop, and remove what was made; whether there was anything."""
        ...

    async def drop_old(self) -> int:
        """Remove vectors that are kept and not used, behind everything else; of how many spaces."""
        ...
