"""`cloxy key`: the key that requests to the server must bring, kept in the data directory."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import click

from cloxy_core.cli import output
from cloxy_core.core_settings import API_KEY, data_directory, load_settings
from cloxy_core.identity import KEY_FILE, read_key, write_private
from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.paths import DataDirectory
from cloxy_hookspecs.errors import ConfigError, ConflictError, NotFoundError

KEY_BYTES = 32
RESTART = "restart the server for this to take effect"
_json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")


@click.group()
def key() -> None:
    """Make, show and remove the key that requests to the server must bring.

    It lies in server.key in the data directory, which only you can read. Commands and editors on
    this machine find it by themselves; clients on other machines need it in their client.env.
    """


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the key file is, and what stands above it."""

    path: Path
    settings: Settings

    @property
    def overruled(self) -> bool:
        """Whether a setting is used instead of the file."""
        return bool(self.settings[API_KEY])

    def read(self) -> str | None:
        """The key in the file; None when there is none.

        Raises:
            ConfigError: the file cannot be read.
        """
        try:
            return read_key(self.path.parent)
        except OSError as error:
            raise ConfigError(
                f"{self.path} cannot be read: {error.strerror or error}",
                hint="make a new one with `cloxy key create --force`",
            ) from error


def _place() -> _Place:
    settings = load_settings(os.environ)
    return _Place(data_directory(settings) / KEY_FILE, settings)


def _warn_if_overruled(place: _Place) -> None:
    if place.overruled:
        output.warn(
            "CLOXY_API_KEY, or api_key in config.toml, is set: the server uses that key, and not "
            "the one in the file"
        )


@key.command("create")
@click.option("--force", is_flag=True, help="Make a new one in the place of the one there is.")
@_json_option
def create_command(force: bool, as_json: bool) -> None:
    """Make a key of 32 random bytes; it is written to a file and not printed."""
    place = _place()
    if os.path.lexists(place.path) and not force:
        raise ConflictError(
            f"there is a key already, in {place.path}",
            hint="`cloxy key create --force` replaces it; clients on other machines then need the "
            "new one",
        )
    directory = DataDirectory.open(place.path.parent)
    try:
        write_private(directory.data / KEY_FILE, secrets.token_urlsafe(KEY_BYTES) + "\n")
    except OSError as error:
        raise ConfigError(
            f"{place.path} cannot be written: {error.strerror or error}",
            hint="make room, or look at who owns the data directory",
        ) from error
    _warn_if_overruled(place)
    if as_json:
        output.print_json({"path": str(place.path), "in_use": not place.overruled})
        return
    output.print_line(f"a new key is in {output.escape(place.path)} (mode 0600)")
    output.print_line(RESTART)
    output.print_line("commands and editors on this machine read it by themselves;")
    output.print_line("`cloxy key show --reveal` prints it for the client.env of another machine")


@key.command("show")
@click.option("--reveal", is_flag=True, help="Print the key itself, and nothing else.")
@_json_option
def show_command(reveal: bool, as_json: bool) -> None:
    """Tell where the key is; the key itself only when asked for."""
    place = _place()
    found = place.read()
    if found is None:
        raise NotFoundError(f"there is no key in {place.path}", hint="make one: `cloxy key create`")
    _warn_if_overruled(place)
    if as_json:
        shown: dict[str, object] = {"path": str(place.path), "in_use": not place.overruled}
        output.print_json({**shown, "key": found} if reveal else shown)
    elif reveal:
        output.print_line(output.escape(found))
    else:
        output.print_line(output.escape(place.path))


@key.command("remove")
@_json_option
def remove_command(as_json: bool) -> None:
    """Remove the key file: after a restart the server asks for no key, if no setting has one."""
    place = _place()
    try:
        place.path.unlink()
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no key in {place.path}") from error
    except OSError as error:
        raise ConfigError(
            f"{place.path} cannot be removed: {error.strerror or error}",
            hint="look at who owns the data directory",
        ) from error
    _warn_if_overruled(place)
    if as_json:
        output.print_json({"path": str(place.path), "removed": True})
        return
    output.print_line(f"removed {output.escape(place.path)}")
    output.print_line(RESTART)
