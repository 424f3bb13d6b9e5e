"""How the model that is set up is at this moment."""

from dataclasses import dataclass
from pathlib import Path

from cloxy_core.cli.init_backend import ServerSays, ask_server, backend_of, missing_extra
from cloxy_core.cli.init_places import Places
from cloxy_core.cli.init_progress import DownloadLine
from cloxy_core.client_config import is_loopback
from cloxy_core.local_models.choice import read_choice
from cloxy_core.local_models.digests import digest_of
from cloxy_core.local_models.endpoints import ask_endpoint
from cloxy_core.local_models.gguf import BadModelFileError
from cloxy_core.local_models.inspecting import LocalModel, inspect
from cloxy_core.local_models.meter import Progress
from cloxy_core.local_models.storage import (
    FOLDER,
    KnownFile,
    Manifest,
    disk_errors_told,
    missing_or_short,
    read_manifest,
)
from cloxy_hookspecs.types.llm import ModelChoice


@dataclass(frozen=True, slots=True)
class ModelState:
    """What is set up, and how it is.

    Attributes:
        choice: the choice; None when there is none.
        model: what its files say; None without files, or when they are damaged.
        manifest: where its files came from; None when Cloxy did not download them.
        checked: whether every digest was compared.
        problems: what is wrong, in words with what to do.
        backend: what runs it; empty without a choice.
        install: command that installs what runs it; None when it is there.
        server: what the running server says.
    """

    choice: ModelChoice | None
    model: LocalModel | None
    manifest: Manifest | None
    checked: bool
    problems: tuple[str, ...]
    backend: str
    install: str | None
    server: ServerSays


def look(places: Places, *, check: bool) -> ModelState:
    """Look at choice, files, libraries and the running server.

    Args:
        places: where they are.
        check: whether to compare the digest of every file.

    Raises:
        ConfigError: the choice cannot be read.
    """
    choice = read_choice(places.config)
    if choice is None:
        return ModelState(None, None, None, False, (), "", None, ask_server())
    model, manifest, problems = None, None, list[str]()
    path = None if choice.path is None else Path(choice.path)
    if path is not None and path.is_absolute():
        model, trouble = _inspected(path)
        problems += trouble
        manifest = _manifest(places, path)
    if manifest is not None and path is not None:
        problems += _file_problems(places, manifest, path, check=check)
    if choice.format == "http":
        problems += _server_problems(places, choice)
    return ModelState(
        choice=choice,
        model=model,
        manifest=manifest,
        checked=check and manifest is not None,
        problems=tuple(dict.fromkeys(problems)),
        backend=backend_of(choice),
        install=missing_extra(choice),
        server=ask_server(),
    )


def _inspected(path: Path) -> tuple[LocalModel | None, list[str]]:
    try:
        return inspect(path), []
    except BadModelFileError as error:
        return None, [f"{error.message}; run `cloxy init` again"]


def _folder(places: Places, path: Path) -> Path | None:
    """The folder of the repository that a path lies in; None for one of somebody else's."""
    models = places.data_dir / FOLDER
    if not path.is_relative_to(models) or path == models:
        return None
    return models / path.relative_to(models).parts[0]


def _manifest(places: Places, path: Path) -> Manifest | None:
    folder = _folder(places, path)
    return None if folder is None else read_manifest(folder)


def _file_problems(places: Places, manifest: Manifest, path: Path, *, check: bool) -> list[str]:
    folder = _folder(places, path)
    assert folder is not None
    files = [each for each in manifest.files if _belongs(folder, each, path)]
    broken = missing_or_short(folder, files)
    if check and not broken:
        broken = _changed(folder, files)
    again = f"run `cloxy init --model {manifest.repo}` to get it again"
    return [f"{folder / name} is not whole; {again}" for name in broken]


def _belongs(folder: Path, file: KnownFile, path: Path) -> bool:
    """Whether a file is one of the chosen model: another quantization beside it is not."""
    here = folder / file.path
    if path in {folder, here}:
        return True
    stem = path.name.rpartition("-00001-of-")[0]
    return bool(stem) and here.parent == path.parent and here.name.startswith(f"{stem}-0")


def _changed(folder: Path, files: list[KnownFile]) -> tuple[str, ...]:
    total, done, changed = sum(each.size for each in files), 0, list[str]()
    with disk_errors_told(folder), DownloadLine(quiet=False) as line:
        for each in files:
            line.tell(Progress("checking", each.path, done, total))
            if digest_of(folder / each.path, each.kind, each.size) != each.digest:
                changed.append(each.path)
            done += each.size
    return tuple(changed)


def _server_problems(places: Places, choice: ModelChoice) -> list[str]:
    """What is wrong with somebody else's server; one on another machine is left in peace."""
    if not is_loopback(choice.source):
        return []
    found = ask_endpoint("server", choice.source, api_key=places.server_key)
    if found is None:
        return [f"no server answers at {choice.source}; start it, or run `cloxy init`"]
    if choice.model and choice.model not in (*found.models, *found.cloud):
        return [f"the server at {choice.source} has no model {choice.model}; run `cloxy init`"]
    return []
