"""A folder with another model, for benchmarks."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_hookspecs import ModelMissingError
from cloxy_plugins.minilm.files import NETWORK, TOKENIZER, file_hash, unreadable
from cloxy_plugins.minilm.names import TOKENS

CONFIG: Final = "config.json"
_DIGITS = 16
_WANTED = f"embed.model_dir wants a folder with {NETWORK}, {TOKENIZER} and {CONFIG}"


@dataclass(frozen=True, slots=True)
class FolderModel:
    """What a folder says of the model in it.

    Attributes:
        revision: hash of the network and the tokenizer, or the name that was given for it.
        dimensions: length of a vector.
        tokens: tokens of a text that are read.
    """

    revision: str
    dimensions: int
    tokens: int


def read_folder(folder: Path, name: str) -> FolderModel:
    """Look at a folder without loading the model.

    Args:
        folder: the folder.
        name: stands for the hash of the files; empty to have it computed.

    Raises:
        ModelMissingError: a file is missing or is not what it should be.
    """
    dimensions, positions = _read_config(folder / CONFIG)
    digest = hashlib.sha256()
    for path in (folder / NETWORK, folder / TOKENIZER):
        try:
            path.stat()
            digest.update(b"" if name else file_hash(path).encode())
        except OSError as error:
            raise unreadable(path, error, hint=_WANTED) from error
    return FolderModel(name or digest.hexdigest()[:_DIGITS], dimensions, min(TOKENS, positions))


def _read_config(path: Path) -> tuple[int, int]:
    """Length of a vector, and tokens that the network has positions for."""
    try:
        facts = json.loads(path.read_bytes())
        return int(facts["hidden_size"]), int(facts.get("max_position_embeddings", TOKENS))
    except OSError as error:
        raise unreadable(path, error, hint=_WANTED) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ModelMissingError(f"{path} does not describe a model", hint=_WANTED) from error
