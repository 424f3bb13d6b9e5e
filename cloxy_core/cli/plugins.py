"""`cloxy plugins`: what plugins there are, and switching them on and off."""

import difflib
import os
from collections.abc import Iterable, Sequence

import click

from cloxy_core.cli.opening import plugins_of
from cloxy_core.cli.output import escape, print_json, print_line, table, warn
from cloxy_core.core_settings import (
    PLUGINS_DIR,
    data_directory,
    load_settings,
    plugin_choice,
)
from cloxy_core.kernel.config_edit import set_disabled
from cloxy_core.kernel.config_file import FILE_NAME
from cloxy_core.kernel.discovery import describe
from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.plugin_state import (
    REQUIRED,
    PluginDescription,
    PluginState,
    plugin_name,
)
from cloxy_core.kernel.report import PluginReport, plugin_reports
from cloxy_core.kernel.settings import Settings
from cloxy_hookspecs.errors import ConfigError, NotFoundError

_HEADINGS = ("NAME", "STATE", "VERSION", "PACKAGE", "SEATS", "WHY")
RESTART = "restart the server for this to take effect"
_json_option = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")


@click.group()
def plugins() -> None:
    """Show, switch on and switch off plugins; works without a server."""


@plugins.command("list")
@_json_option
def list_command(as_json: bool) -> None:
    """Show every plugin: what it brings, or why it is not loaded."""
    host = _open()
    reports = plugin_reports(host)
    if as_json:
        rows = [report.as_json() for report in reports]
        print_json({"plugins": rows, "notes": list(host.notes)})
        return
    for line in table([_HEADINGS, *map(_row, reports)]):
        print_line(line)
    for note in host.notes:
        warn(note)


@plugins.command("info")
@click.argument("name")
@_json_option
def info_command(name: str, as_json: bool) -> None:
    """Show all that is known of one plugin; several packages may offer the name."""
    reports = plugin_reports(_open())
    wanted = plugin_name(name)
    found = [report for report in reports if report.name == wanted]
    if not found:
        raise _unknown(name, (report.name for report in reports))
    if as_json:
        print_json({"plugins": [report.as_json() for report in found]})
        return
    for number, report in enumerate(found):
        if number:
            print_line()
        for line in table(_details(report)):
            print_line(line)


@plugins.command("enable")
@click.argument("name")
@_json_option
def enable_command(name: str, as_json: bool) -> None:
    """Take a plugin out of `[plugins] disabled` in config.toml."""
    _switch(name, disabled=False, as_json=as_json)


@plugins.command("disable")
@click.argument("name")
@_json_option
def disable_command(name: str, as_json: bool) -> None:
    """Put a plugin into `[plugins] disabled` in config.toml."""
    _switch(name, disabled=True, as_json=as_json)


def _open() -> PluginHost:
    return plugins_of(load_settings(os.environ))


def _switch(name: str, *, disabled: bool, as_json: bool) -> None:
    wanted = plugin_name(name)
    settings = load_settings(os.environ)
    known = _described(settings)
    in_file = plugin_choice(settings).disabled
    if wanted not in {plugin.name for plugin in known} | in_file:
        raise _unknown(name, (plugin.name for plugin in known))
    if disabled and wanted in REQUIRED:
        raise ConfigError(f"the plugin {wanted!r} cannot be disabled: {REQUIRED[wanted]}")
    file = data_directory(settings) / FILE_NAME
    changed = set_disabled(file, wanted, disabled=disabled)
    after = [plugin for plugin in _described(load_settings(os.environ)) if plugin.name == wanted]
    hindrance = _hindrance(after, disabled=disabled)
    if as_json:
        print_json(
            {
                "name": wanted,
                "disabled": disabled,
                "changed": changed,
                "restart": changed,
                "file": str(file),
                "note": hindrance,
            }
        )
        return
    word = "disabled" if disabled else "enabled"
    already = "" if changed else "already "
    print_line(f"{escape(wanted)} is {already}{word}" + (f"; {RESTART}" if changed else ""))
    if hindrance:
        warn(hindrance)


def _described(settings: Settings) -> tuple[PluginDescription, ...]:
    return describe(plugin_choice(settings), folder=settings[PLUGINS_DIR])


def _hindrance(plugins: Sequence[PluginDescription], *, disabled: bool) -> str:
    """Why the plugin will not be as the file now says; empty when it will."""
    off = [plugin for plugin in plugins if plugin.state is PluginState.DISABLED]
    if disabled and len(off) < len(plugins):
        running = [plugin for plugin in plugins if plugin.state is PluginState.FOUND]
        return "the environment variable CLOXY_PLUGINS_DISABLED overrides it" if running else ""
    if not disabled and off:
        names_it = "CLOXY_PLUGINS_DISABLED" in os.environ and "plugins.only" not in off[0].reason
        why = "the environment variable CLOXY_PLUGINS_DISABLED names it"
        return "it stays off: " + (why if names_it else off[0].reason)
    if not disabled and plugins and all(each.state is not PluginState.FOUND for each in plugins):
        return f"it will not load: {plugins[0].reason}"
    return ""


def _unknown(name: str, known: Iterable[str]) -> NotFoundError:
    near = difflib.get_close_matches(plugin_name(name), list(known), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else "cloxy plugins list shows all"
    return NotFoundError(f"there is no plugin {name!r}", hint=hint)


def _row(report: PluginReport) -> tuple[str, ...]:
    return (
        report.name,
        report.state.value,
        report.version or "-",
        report.distribution or "one file",
        ", ".join(report.seats) or "-",
        report.reason or ("required" if report.required else ""),
    )


def _details(report: PluginReport) -> list[tuple[str, str]]:
    rows = [
        ("name", report.name),
        ("state", report.state.value),
        ("why", report.reason),
        ("package", report.distribution or "one file"),
        ("version", report.version),
        ("summary", report.summary),
        ("required", "yes" if report.required else "no"),
        ("wants", f"cloxy {report.wants}" if report.wants else ""),
        ("file", report.file),
        ("RECORD", f"sha256 {report.fingerprint}" if report.fingerprint else ""),
        *((seat, ", ".join(names)) for seat, names in report.seats.items()),
        *(("problem", problem) for problem in report.problems),
    ]
    return [(label, text) for label, text in rows if text]
