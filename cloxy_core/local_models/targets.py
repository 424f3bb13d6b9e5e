"""What a person asked for: a name of the catalogue, a Hugging Face id, or a path."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cloxy_core.local_models.catalogue import CatalogueEntry, ModelFormat, find_entry
from cloxy_core.local_models.hardware import Hardware
from cloxy_core.local_models.repo_name import Wanted, parse_wanted
from cloxy_hookspecs.errors import InputError, NotFoundError


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be set up.

    Attributes:
        wanted: a repository; None for what is on this disk.
        path: what is on this disk; None for a repository.
        entry: its entry in the catalogue; None when it has none.
    """

    wanted: Wanted | None = None
    path: Path | None = None
    entry: CatalogueEntry | None = None

    @property
    def label(self) -> str:
        """What it is called, for people."""
        if self.entry is not None:
            return self.entry.name
        return self.wanted.repo if self.wanted is not None else str(self.path)


def find_target(text: str, catalogue: Sequence[CatalogueEntry], kind: ModelFormat | None) -> Target:
    """Read what a person asked for: a name, a Hugging Face id, or a path.

    Args:
        text: as it was given.
        catalogue: the entries.
        kind: the format of this machine, which decides between two entries of one name.

    Raises:
        InputError: it is none of them.
        NotFoundError: no such name is in the catalogue, or not in that format.
    """
    path = _model_path(text)
    if path is not None:
        return Target(path=path)
    entry = find_entry(catalogue, text, None if "/" in text else kind)
    if entry is not None:
        return Target(wanted=Wanted(entry.id, entry.file), entry=entry)
    wanted = parse_wanted(text)
    if wanted is not None:
        same = next((one for one in catalogue if one.id == wanted.repo), None)
        fits = same is not None and wanted.selector in {None, same.file}
        return Target(wanted=wanted, entry=same if fits else None)
    names = sorted({each.name for each in catalogue})
    near = difflib.get_close_matches(text, names, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}? " if near else ""
    raise NotFoundError(
        f"no model {text} in the catalogue, and no such file",
        hint=hint + "`cloxy list` shows the names; a Hugging Face id has the form org/name",
    )


def _model_path(text: str) -> Path | None:
    """What a text means on this disk; None when it means nothing there.

    Raises:
        InputError: it begins with the home of a user who is not known.
    """
    try:
        path = Path(text).expanduser()
        if text.startswith(("/", "./", "../", "~", ".\\")) or path.is_absolute():
            return path.absolute()
        is_model = path.is_file() or (path.is_dir() and (path / "config.json").is_file())
    except RuntimeError as error:
        raise InputError(
            f"{text} is in no home that is known", hint="give the whole path"
        ) from error
    except OSError:  # such as a name that no disk can hold
        return None
    return path.absolute() if is_model else None


def check_runs_here(kind: ModelFormat, hardware: Hardware) -> None:
    """Refuse a format that this machine cannot run.

    Raises:
        InputError: it cannot.
    """
    if kind == "mlx" and not hardware.apple_silicon:
        raise InputError(
            f"this is an MLX model, which runs on Apple Silicon alone, and not on {hardware.chip}",
            hint="choose a GGUF model; `cloxy list` shows those that fit here",
        )
