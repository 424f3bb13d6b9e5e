"""Answers of a session of the editor, in the words that the logs of their runs have."""

from collections.abc import Iterator, Sequence

from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.turns import damaged, made_uid, message, unknown
from cloxy_plugins.kiro.runs import RunLogs, Runs, Said
from cloxy_plugins.kiro.words import is_placeholder


class Answers:
    """What runs said in a session.

    The words have ids of their own, made of the run and their number in it. So a message that was
    read while there was no log is not changed when there is one, and the words stay when the log
    is removed and the session says "On it." again.
    """

    def __init__(self, key: str, logs: RunLogs, runs: Runs, named: Sequence[str | None]) -> None:
        """Nothing is read.

        Args:
            key: key of the session.
            logs: reads logs of runs.
            runs: those that the session names.
            named: for each turn of the session, the run that it was made by.
        """
        self._key = key
        self._logs = logs
        self._runs = runs
        self._named = named
        self._said: dict[str, Sequence[Said]] = {}
        self._told: set[str] = set()
        self._missing: dict[str, bool] = {}

    def words_of(self, turn: int, own: str, near: object) -> Iterator[Record]:
        """Messages with the words of a turn that the session itself does not have.

        Args:
            turn: its number.
            own: what the session says there.
            near: a time near it.
        """
        run = self._named[turn]
        if run is None:
            return
        if run not in self._said:
            found = self._logs.said(self._runs, run)
            self._said[run] = found or ()
            if found is None:
                self._missing[run] = is_placeholder(own)
        words = _squeezed(own)
        for said in self._said[run]:
            uid = made_uid(self._key, "run", said.run, str(said.number))
            if uid not in self._told and _squeezed(said.text) not in words:
                self._told.add(uid)
                yield message(
                    self._key, uid, "assistant", "assistant", said.text, near=near, approximate=True
                )

    def are_told(self, turn: int, own: str) -> bool:
        """Whether what the session itself says in a turn is all in the words of its run."""
        said = self._said.get(self._named[turn] or "", ())
        words = _squeezed(own)
        longer = (each for each in map(_squeezed, (one.text for one in said)) if each != words)
        return bool(said) and (is_placeholder(own) or any(words in each for each in longer))

    def problems(self) -> Iterator[Record]:
        """What could not be read of the runs; called behind the last turn."""
        if self._runs.strange:
            yield unknown("action of another form", self._runs.strange)
        for run in self._missing:
            if problem := self._runs.problems.get(run):
                yield damaged(problem, quiet=True)
        if self._runs.lost and self._runs.unreadable:
            # Without a damaged log among them, nobody says that such a run has to have one.
            unreadable = f"{self._runs.unreadable} log(s) of runs cannot be read"
            reason = f"no log of {self._runs.lost} run(s) that others started; {unreadable}"
            yield damaged(reason, quiet=True)
        lost = [run for run, is_lost in self._missing.items() if is_lost]
        lost = [run for run in lost if run not in self._runs.problems]
        if not lost:
            return
        reason = f"no log of the run for {len(lost)} answer(s) without words"
        if self._runs.unreadable:
            reason += f"; {self._runs.unreadable} log(s) of runs cannot be read"
        if self._runs.is_cut:
            reason += "; there are more logs of runs than are looked at"
        yield damaged(reason, quiet=True)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
