"""Asking a person which model to set up."""

import sys
from dataclasses import dataclass

import click

from cloxy_core.cli import output
from cloxy_core.cli.init_text import machine_lines, offer_rows, offered, server_line
from cloxy_core.local_models.endpoints import Endpoint
from cloxy_core.local_models.hardware import Hardware
from cloxy_core.local_models.recommending import Advice


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person chose.

    Attributes:
        model: a name, id or path; of a server one of its models.
        endpoint: a server; None for a model on this machine.
    """

    model: str
    endpoint: Endpoint | None = None


def can_ask() -> bool:
    """Whether a person is there to answer."""
    return output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)


def ask_model(hardware: Hardware, advice: Advice, endpoints: tuple[Endpoint, ...]) -> Answer:
    """Show machine, models and servers, and let a person choose.

    Raises:
        click.Abort: nothing was chosen.
    """
    offers = offered(advice)
    for line in machine_lines(hardware, advice):
        output.print_line(line, error=True)
    output.print_line(error=True)
    for line in offer_rows(offers) if offers else [f"  {output.escape(advice.reason or '')}"]:
        output.print_line(line, error=True)
    servers = [each for each in endpoints if each.models]
    for number, each in enumerate(servers, start=len(offers) + 1):
        output.print_line(server_line(number, each), error=True)
    output.print_line(
        "\nSizes are looked up, not measured here. `cloxy list` shows all.", error=True
    )
    last = len(offers) + len(servers)
    while True:
        given = click.prompt(
            "A number, a name, a Hugging Face id, or a path",
            default="1" if last else None,
            err=True,
        )
        text = str(given).strip()
        if not text.isdigit():
            return Answer(text)
        number = int(text)
        if 1 <= number <= len(offers):
            return Answer(offers[number - 1].entry.id + _file(offers[number - 1].entry.file))
        if len(offers) < number <= last:
            return _ask_server(servers[number - len(offers) - 1])
        output.print_line(f"There is no number {number}.", error=True)


def _file(name: str | None) -> str:
    return "" if name is None else f":{name}"


def _ask_server(endpoint: Endpoint) -> Answer:
    if len(endpoint.models) == 1:
        return Answer(endpoint.models[0], endpoint)
    for number, name in enumerate(endpoint.models, start=1):
        output.print_line(f"  {number})  {output.escape(name)}", error=True)
    number = click.prompt(
        "Which of its models", type=click.IntRange(1, len(endpoint.models)), default=1, err=True
    )
    return Answer(endpoint.models[int(number) - 1], endpoint)
