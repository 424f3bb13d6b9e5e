"""A client's file in a folder of its own, and the worker that changes it."""

from pathlib import Path

from connect.samples import PROGRAM, URL

from cloxy_core.connect.catalogue import client_named
from cloxy_core.connect.commands import Outcome
from cloxy_core.connect.entry import Target
from cloxy_core.connect.journal import Journal
from cloxy_core.connect.machine import Machine
from cloxy_core.connect.perform import Worker
from cloxy_core.connect.plan import Request, place_of


class RecordedCommands:
    """The boundary to other programs: what was run is noted, what happens is given."""

    def __init__(self, found=None, act=None):
        self.found = found or {}
        self.act = act or (lambda command: Outcome(0, ""))
        self.ran = []

    def find(self, name):
        return self.found.get(name)

    def run(self, command):
        self.ran.append(tuple(command))
        return self.act(tuple(command))


class Bench:
    def __init__(self, folder: Path, client="cursor", commands=None):
        self.home = folder / "home"
        self.home.mkdir(exist_ok=True)
        # macOS, since there every client's place is confirmed.
        self.machine = Machine("darwin", {}, str(self.home))
        self.client = client_named(client)
        self.journal = Journal(folder / "data")
        self.commands = commands or RecordedCommands()
        self.before_swap = None

    @property
    def place(self):
        return place_of(self.client, self.machine, None)

    @property
    def path(self):
        return self.place.path

    def write(self, content):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        self.path.write_bytes(raw)
        return raw

    def connect(self, program=PROGRAM, *, http=False, environment=None, **options):
        target = Target(url=URL) if http else Target(program, environment=environment or {})
        return self._run(Request("cloxy", target, url=URL, **options), undo=False)

    def undo(self):
        return self._run(Request("cloxy", Target(), url=URL), undo=True)

    def _run(self, request, *, undo):
        worker = Worker(
            request, self.journal, self.commands, undo=undo, before_swap=self.before_swap
        )
        step = worker.plan(self.place)
        with self.journal.alone():
            return worker.perform(step)
