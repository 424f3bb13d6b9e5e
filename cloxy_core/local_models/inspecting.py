"""What a path holds: a GGUF file, an MLX folder, or no model."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from cloxy_core.local_models.gguf import BadModelFileError, read_gguf
from cloxy_core.local_models.mlx_folder import read_mlx_folder

SPLIT: Final = re.compile(r"(?P<stem>.+)-(?P<part>\d{5})-of-(?P<parts>\d{5})\.gguf", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model on this disk.

    Attributes:
        path: the file or folder to load.
        format: form of its files.
        architecture: what it says it is.
        context_tokens: longest context that it was made for; None when it does not say.
        files: the files with weights.
        size: bytes of them.
        cache_kb_per_token: memory for each token of its context; None when it does not say.
        notes: what a person should know of it.
    """

    path: Path
    format: Literal["gguf", "mlx"]
    architecture: str
    context_tokens: int | None
    files: tuple[Path, ...]
    size: int
    cache_kb_per_token: float | None = None
    notes: tuple[str, ...] = ()


def inspect(path: Path) -> LocalModel:
    """Look at a GGUF file or an MLX folder, by its contents and not by its name.

    Raises:
        BadModelFileError: it is neither, or a part is missing or damaged.
    """
    try:
        if path.is_dir():
            return _folder(path)
        if path.exists():
            return _file(path)
    except OSError as error:
        raise BadModelFileError(
            f"{path} cannot be read: {error.strerror or error}", hint="check whose it is"
        ) from error
    raise BadModelFileError(
        f"there is no {path}", hint="give a .gguf file, or a folder with an MLX model"
    )


def _folder(path: Path) -> LocalModel:
    if not (path / "config.json").is_file():
        ggufs = sorted(each.name for each in path.glob("*.gguf"))
        if ggufs:
            raise BadModelFileError(
                f"{path} holds GGUF files; choose one of them", hint=f"such as {path / ggufs[0]}"
            )
    found = read_mlx_folder(path)
    notes = () if found.quantized else ("its weights are not quantized; it takes more memory",)
    return LocalModel(
        path=path,
        format="mlx",
        architecture=found.architecture,
        context_tokens=found.context_tokens,
        files=tuple(path / name for name in found.weights),
        size=found.size,
        cache_kb_per_token=found.cache_kb_per_token,
        notes=notes,
    )


def _file(path: Path) -> LocalModel:
    header = read_gguf(path)
    files = parts_of(path)
    if header.split_count > len(files):
        raise BadModelFileError(
            f"{path} is one of {header.split_count} parts, which are not all there",
            hint="give the first part, with all others beside it",
        )
    notes = () if header.chat_template else ("it has no chat template of its own",)
    return LocalModel(
        path=files[0],
        format="gguf",
        architecture=header.architecture,
        context_tokens=header.context_tokens,
        files=files,
        size=sum(file.stat().st_size for file in files),
        cache_kb_per_token=header.cache_kb_per_token,
        notes=notes,
    )


def parts_of(path: Path) -> tuple[Path, ...]:
    """All files of a model that is cut into parts, the first one first; a whole one alone.

    Raises:
        BadModelFileError: a part is missing.
    """
    match = SPLIT.fullmatch(path.name)
    if match is None:
        return (path,)
    parts = int(match["parts"])
    names = [
        path.with_name(f"{match['stem']}-{number:05d}-of-{parts:05d}{path.suffix}")
        for number in range(1, parts + 1)
    ]
    for name in names:
        if not name.is_file():
            raise BadModelFileError(
                f"{name} is missing; the model is in {parts} parts", hint="get the missing part"
            )
    return tuple(names) or (path,)
