"""Changes `[plugins] disabled` in config.toml and nothing else of it."""

import os
import tomllib
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array

from cloxy_core.kernel.config_file import read_config
from cloxy_core.kernel.parsing import TextList
from cloxy_core.kernel.plugin_state import plugin_name
from cloxy_core.runtime.paths import create_private_file, sync_directory
from cloxy_hookspecs.errors import SettingError

if os.name == "posix":
    import fcntl

_SETTING = "plugins.disabled"


def set_disabled(file: Path, name: str, *, disabled: bool) -> bool:
    """Write or remove a plugin's name, keeping every other byte that can be kept.

    The file is replaced in one step and belongs to its owner alone (0600); where it is a link,
    the file that it leads to is replaced.

    Args:
        file: config.toml; made with its folder when it is not there.
        name: the plugin.
        disabled: whether it is to be switched off.

    Returns:
        Whether anything had to be changed.

    Raises:
        SettingError: the file cannot be read, changed or written.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = file.resolve()
        with _only_one(target.parent):
            before = read_config(target)
            text = _edited(before.text, plugin_name(name), target, disabled=disabled)
            if text == before.text:
                return False
            _replace(target, text)
            return True
    except OSError as error:
        raise SettingError(f"{file} cannot be changed: {error.strerror or error}") from error


def _edited(text: str, name: str, file: Path, *, disabled: bool) -> str:
    try:
        document = tomlkit.parse(text)
        names = _names(document, file)
        if (name in map(plugin_name, names)) == disabled:
            return text
        if disabled:
            names.append(name)
        else:
            for position in reversed(range(len(names))):
                if plugin_name(str(names[position])) == name:
                    del names[position]
        edited = tomlkit.dumps(document)
        written: object = tomllib.loads(edited)["plugins"]["disabled"]
    except (TOMLKitError, tomllib.TOMLDecodeError, TypeError, KeyError) as error:
        raise SettingError(
            f"{file} cannot be changed: {error}", hint=f"edit {_SETTING} in it by hand"
        ) from error
    if not isinstance(written, list) or (name in map(plugin_name, written)) != disabled:
        raise SettingError(f"{file} cannot be changed", hint=f"edit {_SETTING} in it by hand")
    return edited


def _names(document: tomlkit.TOMLDocument, file: Path) -> Array:
    """The list in the document, made or made a list if need be."""
    plugins = document.setdefault("plugins", tomlkit.table())
    if not isinstance(plugins, MutableMapping):
        raise SettingError(f"{file}: plugins is not a table", hint="write it as [plugins]")
    names = plugins.get("disabled")
    if isinstance(names, Array):
        if not all(isinstance(each, str) for each in names):
            raise SettingError(f"{file}: {_SETTING} holds more than names")
        return names
    if names is not None and not isinstance(names, str):
        raise SettingError(f"{file}: {_SETTING} is not a list of names")
    array = tomlkit.array()
    array.extend(TextList()(names or ""))
    plugins["disabled"] = array
    return array


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Let no second command change the file between reading and writing it."""
    if os.name != "posix":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(target: Path, text: str) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    with suppress(FileNotFoundError):  # left by a process of this number that was killed
        temporary.unlink()
    try:
        with os.fdopen(create_private_file(temporary), "wb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(target.parent)
