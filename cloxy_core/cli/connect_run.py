"""What `cloxy connect` does, without how it is printed."""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from cloxy_core import identity
from cloxy_core.cli.connect_report import Options, Report, Snippet, State
from cloxy_core.cli.output import in_words
from cloxy_core.client_config import ClientError, data_directory, resolve_client
from cloxy_core.connect.catalogue import CLIENTS, client_named
from cloxy_core.connect.client import Client
from cloxy_core.connect.commands import SystemCommands
from cloxy_core.connect.detection import sign_of
from cloxy_core.connect.entry import NAME, NAME_PATTERN, Target, is_ours
from cloxy_core.connect.errors import ConnectError, TextFault
from cloxy_core.connect.files import read
from cloxy_core.connect.journal import Journal
from cloxy_core.connect.machine import this_machine
from cloxy_core.connect.perform import Worker
from cloxy_core.connect.plan import Action, Place, Request, place_of
from cloxy_core.connect.program import program_path
from cloxy_core.connect.showing import change_lines

_KEY_NOTE = (
    "the server wants a key, which is never written into a client's file: "
    "give it to the client yourself (header X-API-Key), or connect without --http"
)


class Session:
    """One run of the command.

    Raises:
        ConnectError: what was asked for cannot be done at all.
    """

    def __init__(self, options: Options) -> None:
        if not NAME_PATTERN.fullmatch(options.name):
            raise ConnectError(
                f"{options.name!r} cannot be the name of an entry",
                hint="use up to 64 letters, digits, `-` and `_`",
            )
        self._options = options
        self._machine = this_machine(os.environ)
        self._commands = SystemCommands()
        self._data_dir = data_directory(os.environ).absolute()
        self._journal = Journal(self._data_dir)
        self._named = tuple(dict.fromkeys(map(client_named, options.clients)))
        self._workers: dict[str, Worker] = {}
        self.left_out: list[str] = []

    @property
    def undo(self) -> bool:
        """Whether entries are to be taken out."""
        return self._options.undo

    @property
    def nothing_found(self) -> str:
        """What to say when no client is concerned."""
        if self.undo:
            return "No client on this machine has an entry of Cloxy."
        return "No client was found on this machine; name one, as in `cloxy connect cursor`."

    def plan(self) -> list[Report]:
        """What is to be done for every client that is concerned."""
        reports = [self._planned(client) for client in self._concerned()]
        if self.undo and not self._named:
            reports = [each for each in reports if each.pending or each.error is not None]
        return reports

    def perform(self, reports: list[Report]) -> None:
        """Do what was planned; the reports say how it went.

        Raises:
            ConnectError: the data directory cannot be used; nothing was done.
        """
        with self._journal.alone():
            for report in reports:
                assert report.step is not None
                try:
                    report.step = self._worker(report.step.place).perform(report.step)
                    report.written = True
                except ClientError as error:
                    report.error = in_words(error)

    def states(self) -> list[State]:
        """All clients, or those named, and how they stand."""
        return [self._state(client) for client in self._named or CLIENTS]

    def snippets(self) -> list[Snippet]:
        """What belongs into the files of the clients that were named.

        Raises:
            ConnectError: none was named, or there is no such file or address.
        """
        if not self._named:
            raise ConnectError(
                "--print needs the name of a client", hint="as in `cloxy connect --print cursor`"
            )
        return [self._snippet(client) for client in self._named]

    def _concerned(self) -> list[Client]:
        options = self._options
        if self._named:
            return list(self._named)
        if self.undo:
            return [client for client in CLIENTS if self._has_file(client)]
        found = [each for each in CLIENTS if sign_of(each, self._machine, self._commands)]
        fitting = [
            client
            for client in found
            if (options.project is None or client.project_file is not None)
            and (not options.http or client.http is not None)
        ]
        self.left_out = [client.title for client in found if client not in fitting]
        return fitting

    def _has_file(self, client: Client) -> bool:
        place = place_of(client, self._machine, self._options.project)
        return place is not None and os.path.lexists(place.path)

    def _planned(self, client: Client) -> Report:
        report = Report(client, None)
        try:
            place = report.place = self._place(client)
            report.step = self._worker(place).plan(place)
            if self._options.http and not self.undo and self._wants_key():
                report.extra_notes = (_KEY_NOTE,)
            report.lines = change_lines(report.step)
            if report.step.action is Action.PRINT and not self.undo:
                text = client.format.snippet(self._options.name, report.step.values or {})
                report.lines = text.splitlines()
        except ClientError as error:
            report.error = in_words(error)
        return report

    def _place(self, client: Client) -> Place:
        place = place_of(client, self._machine, self._options.project)
        if place is None:
            raise ConnectError(
                f"{client.title} has no file in a project that is confirmed",
                hint="connect it without --project",
            )
        return place

    def _worker(self, place: Place) -> Worker:
        if place.scope not in self._workers:
            request = self._request(place)
            self._workers[place.scope] = Worker(
                request, self._journal, self._commands, undo=self.undo
            )
        if self._options.http and not self.undo and place.client.http is None:
            raise ConnectError(
                f"{place.client.title} takes no address that is confirmed",
                hint="connect it without --http",
            )
        return self._workers[place.scope]

    def _request(self, place: Place) -> Request:
        options = self._options
        if options.undo:
            return Request(options.name, Target(), url=self._known_endpoint())
        target = self._target(place.scope == "project")
        return Request(options.name, target, replace=options.replace, url=self._known_endpoint())

    def _target(self, in_project: bool) -> Target:
        if self._options.http:
            return Target(url=self._endpoint())
        if in_project:
            return Target(program=NAME)
        moved = bool(os.environ.get("CLOXY_DATA_DIR"))
        environment = {"CLOXY_DATA_DIR": str(self._data_dir)} if moved else {}
        program = program_path(
            self._machine,
            sys.argv[0],
            sys.executable,
            str(Path.cwd()),
            self._commands.find,
            os.path.isfile,
        )
        return Target(program=program, environment=environment)

    def _endpoint(self) -> str:
        url = resolve_client(os.environ, self._data_dir).url
        if "@" in urlsplit(url).netloc:
            raise ConnectError(
                "the server's address holds a user name or password, which is never written",
                hint="set CLOXY_URL without it",
            )
        return f"{url}/mcp"

    def _known_endpoint(self) -> str | None:
        try:
            return self._endpoint()
        except ClientError:
            return None

    def _wants_key(self) -> bool:
        if resolve_client(os.environ, self._data_dir).api_key is not None:
            return True
        try:
            return identity.read_key(self._data_dir) is not None
        except OSError:
            return True

    def _state(self, client: Client) -> State:
        place = place_of(client, self._machine, self._options.project)
        sign = sign_of(client, self._machine, self._commands)
        if place is None:
            return State(client.key, client.title, sign, "-", "")
        try:
            content = read(place.path, inside=place.inside)
            found = client.format.entries(content.text).get(self._options.name)
            url = self._known_endpoint()
            state = "no" if found is None else "yes" if is_ours(found, url) else "other"
        except (ClientError, TextFault):
            state = "unreadable"
        return State(client.key, client.title, sign, state, str(place.path))

    def _snippet(self, client: Client) -> Snippet:
        place = self._place(client)
        self._worker(place)
        values = client.values(self._target(place.scope == "project"))
        notes = [_KEY_NOTE] if self._options.http and self._wants_key() else []
        if not place.writable:
            notes.append("that this is the place on this system is not confirmed")
        text = client.format.snippet(self._options.name, values)
        return Snippet(client, str(place.path), text, tuple(notes))
