"""The files of the model: what they should be, and whether they are that."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from cloxy_hookspecs import ModelMissingError

T = TypeVar("T")

DATA: Final = Path(__file__).parent / "data"
"""Where the built-in model lies, in an installed package as in the source tree."""

MANIFEST: Final = "manifest.json"
NETWORK: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
# Not by name: a package index may have another version under it, which reads no such database.
REPAIR: Final = (
    "put the model back by `pip install --force-reinstall --no-deps .` in a clone of the repository"
)

_BLOCK = 1 << 20
# A tensor of ONNX that lies in another file names it by an entry whose key, field 1, is the text
# `location` of 8 bytes.
_ELSEWHERE = b"\x0a\x08location"


@dataclass(frozen=True, slots=True)
class File:
    """What a file should be.

    Attributes:
        sha256: hash of its content, hexadecimal.
        size: length in bytes.
    """

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `manifest.json` says of the built-in model.

    Attributes:
        revision: which weights.
        dimensions: length of a vector.
        tokens: tokens that the model reads of a text.
        files: the files by name.
    """

    revision: str
    dimensions: int
    tokens: int
    files: Mapping[str, File]


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a folder.

    Raises:
        ModelMissingError: it is missing, cannot be read or does not say what it should.
    """
    path = folder / MANIFEST
    try:
        facts = json.loads(path.read_bytes())
        return _manifest(facts)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ModelMissingError(f"{path} is damaged", hint=REPAIR) from error


def check_files(folder: Path, manifest: Manifest) -> None:
    """Read every file of the manifest, and compare.

    Raises:
        ModelMissingError: one is missing, half-written or another file.
    """
    for name, wanted in manifest.files.items():
        path = folder / name
        try:
            size = path.stat().st_size
            same = size == wanted.size and file_hash(path) == wanted.sha256
        except OSError as error:
            raise unreadable(path, error) from error
        if size != wanted.size:
            sizes = f"{size:,} of {wanted.size:,} bytes"
            raise ModelMissingError(f"{path} is damaged: it has {sizes}", hint=REPAIR)
        if not same:
            raise ModelMissingError(
                f"{path} is not the file that came with Cloxy (another hash)", hint=REPAIR
            )


def file_hash(path: Path) -> str:
    """SHA-256 of a file, hexadecimal.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_whole(network: Path) -> bool:
    """Whether all weights of an ONNX file lie in it, and none in a file that it names.

    Raises:
        OSError: it cannot be read.
    """
    seen = b""
    with network.open("rb") as file:
        while block := file.read(_BLOCK):
            seen = seen[1 - len(_ELSEWHERE) :] + block
            if _ELSEWHERE in seen:
                return False
    return True


def unreadable(path: Path, error: OSError, hint: str = REPAIR) -> ModelMissingError:
    """The error for a file of a model that the system does not give."""
    missing = isinstance(error, FileNotFoundError)
    reason = "is missing" if missing else f"cannot be read: {error.strerror or error}"
    return ModelMissingError(f"{path} {reason}", hint=hint)


def _manifest(facts: Any) -> Manifest:  # noqa: ANN401 - what JSON holds
    files = {
        name: File(_checked(fact["sha256"], str), _checked(fact["size"], int))
        for name, fact in facts["files"].items()
    }
    if not {NETWORK, TOKENIZER} <= set(files) or any(Path(name).name != name for name in files):
        raise ValueError("files are not those of a model")
    return Manifest(
        revision=_checked(facts["revision"], str),
        dimensions=_checked(facts["dimensions"], int),
        tokens=_checked(facts["max_tokens"], int),
        files=files,
    )


def _checked(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind) or not value:
        raise ValueError(f"{value!r} is not what it should be")
    return value
