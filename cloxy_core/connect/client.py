"""What is known of one client: a record, read by everything else here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from cloxy_core.connect.entry import ARGUMENTS, Target, Values
from cloxy_core.connect.formats import Format
from cloxy_core.connect.machine import Machine, Platform

EVERYWHERE: frozenset[Platform] = frozenset({"darwin", "linux", "win32"})


@dataclass(frozen=True, slots=True)
class HttpShape:
    """How a client writes the address of a server.

    Attributes:
        key: key of the address.
        kind: value of `type`; None when there is none.
    """

    key: str
    kind: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Client:
    """One editor or agent.

    Attributes:
        key: its name at the command line.
        title: its name for people.
        aliases: other names at the command line.
        documentation: address of the page that the format was taken from.
        looked_up: when, as YYYY-MM-DD.
        format: how entries are written.
        user_files: possible places of the user's file on a machine. The first one that is there
            counts, then the first whose folder is there.
        fallback: which of them counts when nothing is there, by index.
        signs: folders or files that show that the client is on a machine.
        programs: names of its programs.
        confirmed: platforms whose place the client's own documentation, or its source, names; on
            others the entry is only printed.
        project_file: its file in a project, with `/`; None when it has none, or none is confirmed.
        kind: value of `type` for a program; None when there is none.
        extra: what every entry has besides.
        http: how an address is written; None when it cannot be, or is not confirmed.
        private: whether what has to be made is for its owner alone.
        own_file: the file holds nothing but what we wrote.
        next_step: what a person does so that the client sees the change.
        check: how a person sees that it worked.
        sources: further pages that were used.
    """

    key: str
    title: str
    documentation: str
    looked_up: str
    format: Format
    user_files: Callable[[Machine], tuple[PurePath, ...]]
    signs: Callable[[Machine], tuple[PurePath, ...]]
    programs: tuple[str, ...]
    next_step: str
    check: str
    aliases: tuple[str, ...] = ()
    fallback: int = 0
    confirmed: frozenset[Platform] = EVERYWHERE
    project_file: str | None = None
    kind: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    http: HttpShape | None = None
    private: bool = False
    own_file: bool = False
    sources: tuple[str, ...] = ()

    def values(self, target: Target) -> Values:
        """The entry for a target, in this client's keys.

        Raises:
            ValueError: the client takes no address.
        """
        if target.url is None:
            first = {} if self.kind is None else {"type": self.kind}
            values: Values = {**first, "command": target.program, "args": list(ARGUMENTS)}
            if target.environment:
                values["env"] = dict(target.environment)
            return {**values, **self.extra}
        if self.http is None:
            raise ValueError(f"{self.title} takes no address")
        first = {} if self.http.kind is None else {"type": self.http.kind}
        return {**first, self.http.key: target.url, **self.extra}
