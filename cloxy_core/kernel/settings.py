"""Settings: declared once as records, given by file, environment or command line.

Later beats earlier: the record's default, `config.toml` in the data directory, the
environment, the command line. What a setting is depends on its record and on these alone.
"""

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from cloxy_core.kernel.config_file import ConfigFile, read_config
from cloxy_core.kernel.containment import Failure, contained
from cloxy_hookspecs.errors import SettingError
from cloxy_hookspecs.types.settings import Setting

T = TypeVar("T")

MASK = "********"
_SHOWN_CHARACTERS = 120


class Layer(Enum):
    """What gave a setting its value, weakest first."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class Explanation:
    """A setting's value and why it has it, safe to show.

    Attributes:
        name: dotted name.
        value: the value as text; masked when it is secret and set.
        layer: what gave it.
        place: the variable, or file and line; for people.
        default: the default as text.
        variable: the environment variable.
        help: one line.
        restart: whether a change needs a restart.
    """

    name: str
    value: str
    layer: Layer
    place: str
    default: str
    variable: str
    help: str
    restart: bool


@dataclass(frozen=True, slots=True)
class _Given:
    """A text that some layer gives, before it is parsed."""

    layer: Layer
    place: str
    text: str


class Settings:
    """The values of all declared settings; implements `SettingsView`."""

    def __init__(
        self,
        records: Iterable[Setting[Any]] = (),
        *,
        file: ConfigFile | None = None,
        environment: Mapping[str, str] | None = None,
        command_line: Mapping[str, str] | None = None,
        not_in_file: Collection[str] = (),
    ) -> None:
        """Take the layers as they are at this moment.

        Args:
            records: settings to declare at once.
            file: what config.toml says; None for no file.
            environment: environment variables; None for none.
            command_line: texts by dotted name.
            not_in_file: names that make no sense in the file.
        """
        self._file = file or ConfigFile(Path("config.toml"))
        self._environment = dict(environment or {})
        self._command_line = dict(command_line or {})
        self._not_in_file = frozenset(not_in_file)
        self._declared: dict[str, Setting[Any]] = {}
        self.declare(records)

    def declare(self, records: Iterable[Setting[Any]]) -> None:
        """Make settings known; the first record of a name stays."""
        for record in records:
            self._declared.setdefault(record.name, record)

    def reread(self) -> "Settings":
        """The same settings with the file as it is at this moment.

        Raises:
            SettingError: the file cannot be read or is not TOML.
        """
        return Settings(
            self._declared.values(),
            file=read_config(self._file.path),
            environment=self._environment,
            command_line=self._command_line,
            not_in_file=self._not_in_file,
        )

    @property
    def declared(self) -> tuple[Setting[Any], ...]:
        """All records, by name."""
        return tuple(self._declared[name] for name in sorted(self._declared))

    def __getitem__(self, setting: Setting[T]) -> T:
        """The value, typed as the record says.

        Raises:
            SettingError: the value that was given cannot be used, or nobody declared the name.
        """
        if setting.name not in self._declared:
            raise SettingError(
                f"the setting {setting.name!r} is not declared",
                hint="yield it from the hook cloxy_settings",
            )
        return self._resolve(setting)[0]

    def named(self, name: str) -> object:
        """The value of a setting by its dotted name.

        Raises:
            SettingError: there is no such setting, or its value cannot be used.
        """
        return self[self._record(name)]

    def explain(self, name: str) -> Explanation:
        """The value of a setting and where it comes from.

        Raises:
            SettingError: there is no such setting, or its value cannot be used.
        """
        setting = self._record(name)
        value, given = self._resolve(setting)
        return Explanation(
            name=name,
            value=_shown(value, secret=setting.secret),
            layer=given.layer if given else Layer.DEFAULT,
            place=given.place if given else "default",
            default=_shown(setting.default, secret=setting.secret),
            variable=setting.variable,
            help=setting.help,
            restart=setting.restart,
        )

    def check(self, *, tolerated_groups: Collection[str] = ()) -> None:
        """Refuse unknown keys in the file and values that cannot be used.

        Call it when every plugin has declared its settings.

        Args:
            tolerated_groups: first parts of names whose owner is installed but switched off.

        Raises:
            SettingError: the first thing that is wrong.
        """
        for name in self._file.values:
            if name in self._not_in_file:
                raise SettingError(
                    f"{self._file.place(name)}: {name!r} cannot be set in this file",
                    hint=f"set the environment variable {self._declared[name].variable}",
                )
            if name not in self._declared and name.partition(".")[0] not in tolerated_groups:
                raise SettingError(
                    f"{self._file.place(name)}: unknown setting {name!r}", hint=self._nearest(name)
                )
        for setting in self.declared:
            self._resolve(setting)

    def _record(self, name: str) -> Setting[Any]:
        if name not in self._declared:
            raise SettingError(f"there is no setting {name!r}", hint=self._nearest(name))
        return self._declared[name]

    def _nearest(self, name: str) -> str:
        same_key = [known for known in self._declared if known.endswith("." + name)]
        close = same_key or difflib.get_close_matches(name, self._declared, n=1, cutoff=0.5)
        return f"did you mean {close[0]!r}?" if close else "remove it"

    def _resolve(self, setting: Setting[T]) -> tuple[T, _Given | None]:
        for given in self._layers(setting):
            return _parse(setting, given), given
        return setting.default, None

    def _layers(self, setting: Setting[Any]) -> Iterator[_Given]:
        """What is given for a setting, strongest first; an empty text is not given."""
        name, variable = setting.name, setting.variable
        texts = (
            (Layer.COMMAND_LINE, f"{name} on the command line", self._command_line.get(name)),
            (Layer.ENVIRONMENT, variable, self._environment.get(variable)),
        )
        for layer, place, text in texts:
            if text is not None and (text or setting.empty_is_value):
                yield _Given(layer, place, text)
        if name in self._file.values and name not in self._not_in_file:
            place = f"{self._file.place(name)}: {name}"
            value = self._file.values[name]
            if value != "" or setting.empty_is_value:
                yield _Given(Layer.FILE, place, _text_of(setting, place, value))


def _parse(setting: Setting[T], given: _Given) -> T:
    parsed = contained(lambda: setting.parse(given.text))
    if not isinstance(parsed, Failure):
        return parsed.value
    is_value_error = isinstance(parsed.error, ValueError)
    words = str(parsed.error) if is_value_error else f"another value ({parsed.words})"
    if setting.secret:
        # The cause would carry the secret into a traceback, and a careless parser quotes it.
        words = words.replace(given.text, MASK) if given.text else words
        raise SettingError(f"{given.place}: the value (not shown) cannot be used; wants {words}")
    raise SettingError(
        f"{given.place}: {_quoted(given.text)} cannot be used; wants {words}"
    ) from parsed.error


def _text_of(setting: Setting[Any], place: str, value: object) -> str:
    """A TOML value as the text that the setting's parser takes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return repr(value)
    separator: object = getattr(setting.parse, "separator", None)
    if not isinstance(value, list) or not isinstance(separator, str):
        kind = "list" if isinstance(value, list) else type(value).__name__
        raise SettingError(f"{place}: a {kind} cannot be used; wants a single plain value")
    if not all(isinstance(item, str) for item in value):
        raise SettingError(f"{place}: the list cannot be used; wants texts only")
    if any(separator in item for item in value):
        raise SettingError(f"{place}: an item of the list must not contain {separator!r}")
    return separator.join(value)


def _quoted(text: str) -> str:
    shown = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
    return ascii(shown) if not shown.isprintable() else repr(shown)


def _shown(value: object, *, secret: bool) -> str:
    if value is None or value == "":
        return ""
    if secret:
        return MASK
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, tuple | list | frozenset):
        return ", ".join(str(item) for item in value)
    return str(value)
