"""Does what was planned, again from the beginning when the file changes under the hands."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from cloxy_core.connect import claude_cli, files
from cloxy_core.connect.commands import Commands
from cloxy_core.connect.entry import says_the_same
from cloxy_core.connect.errors import ConnectError
from cloxy_core.connect.files import ChangedMeanwhileError
from cloxy_core.connect.journal import Journal
from cloxy_core.connect.plan import Action, Place, Request, Step, plan_connect, plan_undo

_ATTEMPTS: Final = 50


class Worker:
    """Plans and does steps, for connecting or for taking it back.

    Args:
        request: what is wanted.
        journal: where it is remembered.
        commands: other programs.
        undo: whether our entries are to be taken out.
        before_swap: called before a file is compared for the last time; for tests.
    """

    def __init__(
        self,
        request: Request,
        journal: Journal,
        commands: Commands,
        *,
        undo: bool = False,
        before_swap: Callable[[], None] | None = None,
    ) -> None:
        self._request = request
        self._journal = journal
        self._commands = commands
        self._undo = undo
        self._before_swap = before_swap

    def plan(self, place: Place) -> Step:
        """What has to be done to one file.

        Raises:
            ConnectError: the file cannot be changed.
        """
        plan = plan_undo if self._undo else plan_connect
        step = plan(place, self._request, self._journal)
        if not step.changes:
            return step
        return replace(step, commands=claude_cli.commands(step, self._request, self._commands))

    def perform(self, step: Step) -> Step:
        """Do a step; the one that was done in the end, since the file may change meanwhile.

        Hold `Journal.alone` around it.

        Raises:
            ConnectError: it cannot be done; the file is as it was.
        """
        for _ in range(_ATTEMPTS):
            if not step.changes:
                return step
            try:
                self._run(step) if step.commands else self._write(step)
            except ChangedMeanwhileError:
                step = self.plan(step.place)
            else:
                return step
        raise ConnectError(
            f"{step.place.path} is changed all the time by another program",
            hint=f"close {step.place.client.title} and try again",
        )

    def _write(self, step: Step) -> None:
        content, name, private = step.content, self._request.name, step.place.client.private
        earlier = self._journal.find(content.path, name)
        made: tuple[Path, ...] = ()
        try:
            if content.raw is None:
                made = files.make_folders(content.path.parent, private=private)
        except OSError as error:
            raise ConnectError(
                f"the folder {content.path.parent} cannot be made: {error.strerror or error}"
            ) from error
        try:
            if step.action is not Action.REMOVE:
                folders = tuple(map(str, made))
                record = step.record and replace(
                    step.record, folders=folders or step.record.folders
                )
                self._journal.keep(content.path, name, record)
            if step.after is None:
                files.delete(content)
            else:
                raw = content.encoded(step.after)
                files.swap(content, raw, private=private, before=self._before_swap)
        except (ConnectError, ChangedMeanwhileError):
            files.delete_empty(made)
            self._journal.keep(content.path, name, earlier)
            raise
        if step.action is Action.REMOVE:
            self._journal.keep(content.path, name, None)
            if step.after is None and step.record is not None:
                files.delete_empty(tuple(map(Path, step.record.folders)))

    def _run(self, step: Step) -> None:
        for command in step.commands:
            outcome = self._commands.run(command)
            if outcome.code != 0:
                said = " ".join(outcome.text.split())[:300] or "nothing"
                raise ConnectError(
                    f"`{shlex.join(command)}` failed ({outcome.code}); it said: {said}",
                    hint="run it by hand to see why",
                )
        self._journal.keep(step.content.path, self._request.name, None)
        self._check(step)

    def _check(self, step: Step) -> None:
        """See with our own eyes that the client did what it was asked.

        Raises:
            ConnectError: it did not.
        """
        content = files.read(step.place.path)
        found = step.place.client.format.entries(content.text).get(self._request.name)
        if self._undo:
            done = found is None
        else:
            done = found is not None and says_the_same(found, step.values or {})
        if not done:
            raise ConnectError(
                f"`{shlex.join(step.commands[-1])}` ended well, but {content.path} is not so",
                hint=f"look at it with {step.place.client.check}",
            )
