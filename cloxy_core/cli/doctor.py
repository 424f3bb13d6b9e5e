"""`cloxy doctor`: what is wrong with the data directory, and mending it."""

import asyncio
import os

import click

from cloxy_core.cli import output
from cloxy_core.cli.doctor_repair import repair_all
from cloxy_core.cli.doctor_text import ProgressLine, report_lines, work_lines
from cloxy_core.cli.opening import plugins_of
from cloxy_core.core_settings import (
    data_directory,
    load_settings,
)
from cloxy_core.kernel.host import PluginHost
from cloxy_core.runtime.paths import DataDirectory, private_umask
from cloxy_core.services.doctor.examination import examine
from cloxy_core.services.doctor.findings import Report
from cloxy_core.services.doctor.repair import Work
from cloxy_hookspecs.errors import NotFoundError


@click.command()
@click.option("--repair", is_flag=True, help="Mend what can be mended; the server must not run.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def doctor(repair: bool, as_json: bool) -> int:
    """Look for damage and disagreement in the data directory; works with or without a server.

    Without --repair nothing is changed. Exits with 0 when all is well, which notes do not
    change, and with 1 when there is an error or a warning; after --repair, when one is left.
    """
    private_umask()
    host, paths = _open()
    with ProgressLine() as progress:
        if repair:
            report, work = asyncio.run(repair_all(host, paths, progress.tell))
        else:
            report, work = asyncio.run(examine(host, paths, progress.tell)), None
    if as_json:
        output.print_json(_as_json(report, work))
        return 0 if report.clean else 1
    if work is not None:
        for line in work_lines(work):
            output.print_line(line)
    for line in report_lines(report, work):
        output.print_line(line)
    return 0 if report.clean else 1


def _open() -> tuple[PluginHost, DataDirectory]:
    """Plugins, settings, and a data directory that is there."""
    settings = load_settings(os.environ)
    host = plugins_of(settings)
    data = data_directory(settings)
    if not data.is_dir():
        raise NotFoundError(
            f"there is no data directory at {data}",
            hint="the first `cloxy start` makes it; set CLOXY_DATA_DIR to look at another",
        )
    return host, DataDirectory(data.absolute())


def _as_json(report: Report, work: Work | None) -> dict[str, object]:
    """Everything, for programs."""
    return {
        "well": report.clean,
        "examined": [part.as_json() for part in report.examined],
        "repair": None if work is None else work.as_json(),
    }
