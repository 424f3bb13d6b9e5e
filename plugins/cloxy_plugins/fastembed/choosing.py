"""What a setting names: a model of a catalogue, or a folder."""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from cloxy_hookspecs import Setting, SettingError


def chosen(text: str, names: Iterable[str], setting: Setting[str]) -> str | Path:
    """A name as the catalogue spells it, or the path of a folder.

    Args:
        text: what the setting says; of a name the last part is enough, in capitals or not.
        names: the catalogue.
        setting: where the text stands, for the error.

    Raises:
        SettingError: it is neither a name of the catalogue nor the path of a folder.
    """
    known = {name.lower(): name for name in names}
    parts = {name.rpartition("/")[2]: known[name] for name in known}
    if text.lower() in known or text.lower() in parts:
        return known.get(text.lower()) or parts[text.lower()]
    if text.startswith("~") or Path(text).is_absolute() or Path(text).is_dir():
        return _folder(text, setting)
    close = get_close_matches(text.lower(), known, n=3, cutoff=0.5)
    offered = ", ".join(known[name] for name in close) or ", ".join(known.values())
    raise SettingError(
        f"{setting.name} ({setting.variable}): {text!r} is not in the catalogue of the plugin "
        "fastembed",
        hint=f"set it to {'one like' if close else 'one of'} {offered}, or to the path of a "
        "folder with an ONNX model",
    )


def _folder(text: str, setting: Setting[str]) -> Path:
    try:
        return Path(os.path.abspath(Path(text).expanduser()))  # noqa: PTH100 - as written
    except RuntimeError as error:
        raise SettingError(f"{setting.name} ({setting.variable}): {text!r}: {error}") from error
