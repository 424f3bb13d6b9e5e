"""Which back-end answers for a role."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.local_models.choice import read_choice
from cloxy_core.services.llm.hosting import HostedBackend
from cloxy_core.services.llm.queue import Places
from cloxy_hookspecs import (
    LLM,
    HostedModelProvider,
    LLMProvider,
    ModelChoice,
    ModelMissingError,
    ModelRole,
    PluginError,
    SettingError,
)

AUTO: Final = "auto"
NONE: Final = "none"
SET_UP: Final = (
    "run `cloxy init` to set one up on this machine, or set CLOXY_LLM_BASE_URL to a server that "
    "speaks OpenAI's API"
)

Record = LLMProvider | HostedModelProvider


class ChoiceFile:
    """What `cloxy init` set up, read anew when the file changes; implements `ModelChoices`."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet.

        Args:
            path: the file; it need not exist.
        """
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._choice: ModelChoice | None = None

    def current(self) -> ModelChoice | None:
        """The model that was chosen last; None without one.

        Raises:
            ConfigError: the file cannot be read.
        """
        seen = self._look()
        if seen is None or seen != self._seen:
            self._choice = read_choice(self._path)
            self._seen = seen
        return self._choice

    def _look(self) -> tuple[int, int, int] | None:
        with suppress(OSError):
            found = self._path.stat()
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None


@dataclass(frozen=True, slots=True)
class Backend:
    """A back-end that can be asked, and the places at it.

    Attributes:
        name: name of its record.
        llm: itself.
        places: how many at a time.
    """

    name: str
    llm: LLM | HostedBackend
    places: Places


class Makes(Protocol):
    """How back-ends are made."""

    def llm(self, record: LLMProvider) -> LLM:
        """One that reaches its models by itself; raises `PluginError`."""
        ...

    def hosted(
        self, record: HostedModelProvider, choice: Callable[[], ModelChoice]
    ) -> HostedBackend:
        """One that is kept in a process."""
        ...

    def places(self, concurrent: int) -> Places:
        """Places at it."""
        ...


class Backends:
    """All back-ends, each made when it is first wanted."""

    def __init__(
        self,
        records: Sequence[Record],
        roles: Mapping[ModelRole, str],
        choices: ChoiceFile,
        makes: Makes,
    ) -> None:
        """Make nothing yet.

        Args:
            records: all that are enabled.
            roles: what the settings say: a record's name, `auto` or `none`.
            choices: the model that was set up.
            makes: makes them.

        Raises:
            SettingError: a role names a record that there is not.
        """
        self._records = {record.name: record for record in records}
        self._roles = roles
        self._choices = choices
        self._makes = makes
        self._made: dict[str, Backend] = {}
        for role, wanted in roles.items():
            if wanted not in (AUTO, NONE, *self._records):
                choices_text = ", ".join([*sorted(self._records), AUTO, NONE])
                raise SettingError(
                    f"llm.{role}: there is no {wanted!r}", hint=f"choices: {choices_text}"
                )

    def of(self, role: ModelRole) -> Backend:
        """The back-end of a role.

        Raises:
            ModelMissingError: it has none; says why and what to do.
            ConfigError: the file of the model cannot be read.
            PluginError: it cannot be made.
        """
        wanted = self._roles[role]
        if wanted == NONE:
            raise ModelMissingError(
                f"no language model may be asked (llm.{role} is none)",
                hint=f"set llm.{role} to auto, or to the name of a back-end",
            )
        if wanted != AUTO:
            record = self._records[wanted]
            if isinstance(record, HostedModelProvider):
                self._check(record)
            return self._backend(record)
        return self._automatic()

    def maybe(self, role: ModelRole) -> Backend | None:
        """The back-end of a role; None when it has none.

        Raises:
            ConfigError: the file of the model cannot be read.
            PluginError: it cannot be made.
        """
        with suppress(ModelMissingError):
            return self.of(role)
        return None

    def wants(self, role: ModelRole) -> bool:
        """Whether its owner wants a role to have a back-end, and it may be missing by mistake."""
        wanted = self._roles[role]
        return wanted not in (AUTO, NONE) or (
            wanted == AUTO and self._choices.current() is not None
        )

    async def aclose(self) -> None:
        """End the processes; what plugins made is closed by the host."""
        for backend in self._made.values():
            if isinstance(backend.llm, HostedBackend):
                await backend.llm.aclose()

    def _automatic(self) -> Backend:
        for record in self._records.values():
            if isinstance(record, LLMProvider):
                # One that cannot be made is noted, and the others are looked at.
                with suppress(PluginError):
                    backend = self._backend(record)
                    if _is_configured(backend.llm):
                        return backend
        choice = self._choices.current()
        if choice is None:
            raise ModelMissingError("no language model is set up", hint=SET_UP)
        fitting = [
            record
            for record in self._records.values()
            if isinstance(record, HostedModelProvider) and record.format == choice.format
        ]
        for record in fitting:
            if unavailable(record) is None:
                return self._backend(record)
        if fitting:
            self._check(fitting[0])
        raise ModelMissingError(
            f"no enabled plugin can run {choice.name!r}, a model of the form {choice.format}",
            hint="run `cloxy plugins list`, or choose another model with `cloxy init`",
        )

    def _check(self, record: HostedModelProvider) -> None:
        """Refuse a library that cannot run what is set up.

        Raises:
            ModelMissingError: says why.
        """
        if (why := unavailable(record)) is not None:
            extra = f"pip install 'cloxy[{record.extra}]'" if record.extra else None
            raise ModelMissingError(f"{record.name} cannot run models here: {why}", hint=extra)
        self._chosen(record)

    def _chosen(self, record: HostedModelProvider) -> ModelChoice:
        choice = self._choices.current()
        if choice is None:
            raise ModelMissingError("no language model is set up", hint=SET_UP)
        if choice.format != record.format:
            raise ModelMissingError(
                f"{record.name} runs models of the form {record.format}, and "
                f"{choice.name!r} has the form {choice.format}",
                hint="choose another with `cloxy init`, or set llm.chat to auto",
            )
        return choice

    def _backend(self, record: Record) -> Backend:
        if record.name not in self._made:
            if isinstance(record, HostedModelProvider):
                llm: LLM | HostedBackend = self._makes.hosted(record, lambda: self._chosen(record))
                concurrent = 1
            else:
                llm, concurrent = self._makes.llm(record), max(1, record.concurrent)
            self._made[record.name] = Backend(record.name, llm, self._makes.places(concurrent))
        return self._made[record.name]


def _is_configured(llm: LLM | HostedBackend) -> bool:
    if isinstance(llm, HostedBackend):
        return True
    asked = contained(lambda: llm.configured)
    return not isinstance(asked, Failure) and bool(asked.value)


def unavailable(record: HostedModelProvider) -> str | None:
    """Why a library cannot run here; None when it can. Nothing is imported."""
    for module in record.modules:
        found = contained(partial(find_spec, module))
        if isinstance(found, Failure) or found.value is None:
            return f"the module {module!r} is not installed"
    asked = contained(record.available)
    return asked.words if isinstance(asked, Failure) else asked.value
