"""`cloxy init`, once its options are read."""

from dataclasses import dataclass

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.init_ask import ask_model, can_ask
from cloxy_core.cli.init_backend import ask_server
from cloxy_core.cli.init_places import find_places
from cloxy_core.cli.init_progress import DownloadLine
from cloxy_core.cli.init_report import Done, as_object, show_done
from cloxy_core.client_config import is_loopback
from cloxy_core.local_models.catalogue import load_catalogue
from cloxy_core.local_models.choice import read_choice, write_choice
from cloxy_core.local_models.endpoints import (
    Endpoint,
    ask_endpoint,
    base_url_of,
    find_endpoints,
)
from cloxy_core.local_models.hardware import detect
from cloxy_core.local_models.hub import Hub
from cloxy_core.local_models.recommending import advise
from cloxy_core.local_models.server_choice import server_choice
from cloxy_core.local_models.setting_up import Planned, Ready, Setup
from cloxy_core.local_models.targets import Target, find_target
from cloxy_core.runtime.paths import DataDirectory
from cloxy_hookspecs.errors import FetchError, InputError
from cloxy_hookspecs.types.llm import ModelChoice

_SERVER_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for at the command line."""

    model: str | None
    server: str | None
    yes: bool
    dry_run: bool
    quiet: bool


class InitSession:
    """One run of the command."""

    def __init__(self, wishes: Wishes) -> None:
        """Look at settings and machine.

        Raises:
            ConfigError: a setting, or the file with the choice, cannot be used.
        """
        self._wishes = wishes
        self._places = find_places()
        # A damaged file is told before a long download, not behind it.
        self._before = read_choice(self._places.config)
        self._catalogue = load_catalogue()
        self._hardware = detect()
        self._advice = advise(self._hardware, self._catalogue)
        self._setup = Setup(self._places.data_dir, self._hardware)

    def run(self, *, as_json: bool) -> int:
        """Do what was wished; the exit code.

        Raises:
            CloxyError: it cannot be done.
        """
        done = self._do(can_ask() and not as_json and not self._wishes.yes)
        done.dry_run = self._wishes.dry_run
        if done.choice is not None and not self._wishes.dry_run:
            self._write(done, done.choice)
        if as_json:
            output.print_json(as_object(done, self._places, self._hardware, self._advice))
        elif self._wishes.quiet:
            for note in done.notes:
                output.warn(note)
        else:
            show_done(done, self._places)
        return 0

    def _do(self, person: bool) -> Done:
        wishes = self._wishes
        if wishes.server is not None:
            return self._from_server(self._asked_server(base_url_of(wishes.server)), wishes.model)
        if wishes.model is not None:
            return self._from_text(wishes.model, person=person)
        if person:
            answer = ask_model(self._hardware, self._advice, find_endpoints())
            if answer.endpoint is not None:
                return self._from_server(answer.endpoint, answer.model)
            return self._from_text(answer.model, person=person)
        best = self._advice.recommended
        if not wishes.yes and not wishes.dry_run:
            name = "" if best is None else f" for the recommended one, {best.entry.name}"
            raise click.UsageError(
                "nobody can be asked here; pass --model NAME, --server URL, or --yes" + name
            )
        if best is None:
            raise InputError(self._advice.reason or "no model fits", hint=None)
        selector = "" if best.entry.file is None else f":{best.entry.file}"
        return self._from_text(best.entry.id + selector, person=False)

    def _asked_server(self, base_url: str) -> Endpoint:
        """The server of an address; one that does not answer is taken as it was told.

        Raises:
            FetchError: it does not answer, and no model of it was named.
        """
        found = ask_endpoint(
            "server",
            base_url,
            seconds=_SERVER_SECONDS,
            # A key of a person is sent to nobody else's machine unasked.
            api_key=self._places.server_key if is_loopback(base_url) else "",
        )
        if found is not None:
            return found
        if self._wishes.model is None:
            raise FetchError(
                f"no server with an OpenAI-style API answers at {base_url}",
                hint="start it, check the address, or name one of its models with --model to "
                "set it up all the same",
            )
        return Endpoint("server", base_url, ())

    def _from_server(self, endpoint: Endpoint, model: str | None) -> Done:
        choice, notes = server_choice(endpoint, model, remote=not is_loopback(endpoint.base_url))
        if not endpoint.models:
            notes = (*notes, f"the server at {endpoint.base_url} did not list its models")
        return Done(choice=choice, notes=notes, already=choice == self._before, label=choice.name)

    def _from_text(self, text: str, *, person: bool) -> Done:
        target = find_target(text, self._catalogue, self._advice.format)
        if target.path is not None:
            ready = self._setup.local(target)
            return self._done(target, ready)
        with DownloadLine(quiet=self._wishes.quiet) as line:
            here = self._setup.here(target, line.tell)
        if here is not None:
            return self._done(target, here, already=True)
        with Hub(self._places.endpoint, self._places.token) as hub:
            planned = self._setup.plan(target, hub)
            if self._wishes.dry_run:
                return Done(planned=planned, label=target.label)
            if person and not self._agreed(target, planned):
                raise click.Abort
            DataDirectory.open(self._places.data_dir)
            ready = self._get(target, planned, hub)
        return self._done(target, ready, planned=planned)

    def _agreed(self, target: Target, planned: Planned) -> bool:
        """Whether a person wants what does not fit; whatever fits was asked for already."""
        if planned.size / 1e9 <= self._advice.budget_gb:
            return True
        words = (
            f"{output.escape(target.label)} has {fields.size(planned.size)}, and a model may take "
            f"{self._advice.budget_gb:.1f} GB of memory here. Download it all the same?"
        )
        return click.confirm(words, default=False, err=True)

    def _get(self, target: Target, planned: Planned, hub: Hub) -> Ready:
        if not self._wishes.quiet:
            where = hub.page(planned.listing.repo)
            output.print_line(
                f"{output.escape(target.label)}: {fields.size(planned.missing)} from "
                f"{output.escape(where)}",
                error=True,
            )
        try:
            with DownloadLine(quiet=self._wishes.quiet) as line:
                return self._setup.get(target, planned, hub, line.tell)
        except KeyboardInterrupt:
            output.print_line(
                "\nStopped. What has come is kept: run the same command again to go on.",
                error=True,
            )
            raise

    def _done(
        self,
        target: Target,
        ready: Ready,
        *,
        planned: Planned | None = None,
        already: bool = False,
    ) -> Done:
        return Done(
            choice=ready.choice,
            planned=planned,
            downloaded=0 if planned is None else planned.missing,
            already=already,
            notes=ready.notes,
            label=target.label,
        )

    def _write(self, done: Done, choice: ModelChoice) -> None:
        DataDirectory.open(self._places.data_dir)
        if choice != self._before:
            write_choice(self._places.config, choice)
        done.written = choice != self._before
        done.server = ask_server()
