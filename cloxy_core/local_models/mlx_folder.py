"""A folder with an MLX model: its configuration and the headers of its weights.

Form of the weights: https://huggingface.co/docs/safetensors (a length of 64 bits, little-endian,
and a JSON object with the place of every tensor behind it).
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_core.local_models.gguf import BadModelFileError

CONFIG: Final = "config.json"
INDEX: Final = "model.safetensors.index.json"
_MAX_JSON: Final = 64 * 1024 * 1024
_TOKENIZERS: Final = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json")


@dataclass(frozen=True, slots=True)
class MlxFolder:
    """What a folder says of the model in it.

    Attributes:
        architecture: `model_type` of its configuration.
        context_tokens: longest context that it was made for; None when it does not say.
        cache_kb_per_token: memory for each token of its context, 10^3 bytes, at 16 bits for a
            number; None when it does not say.
        weights: names of the files with weights.
        quantized: whether its weights are quantized by MLX.
        size: bytes of all weights.
    """

    architecture: str
    context_tokens: int | None
    cache_kb_per_token: float | None
    weights: tuple[str, ...]
    quantized: bool
    size: int


def read_mlx_folder(folder: Path) -> MlxFolder:
    """Read configuration and headers of a folder.

    Raises:
        BadModelFileError: something is missing or damaged; the message names the file.
    """
    config = _json_object(folder / CONFIG)
    architecture = config.get("model_type")
    if not isinstance(architecture, str) or not architecture:
        raise _bad(folder / CONFIG, "does not say which model_type it is")
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise _bad(folder, f"has no tokenizer ({', '.join(_TOKENIZERS[:2])})")
    weights = _weights(folder)
    return MlxFolder(
        architecture=architecture,
        context_tokens=_whole(config, "max_position_embeddings"),
        cache_kb_per_token=_cache(config),
        weights=weights,
        quantized=isinstance(config.get("quantization"), dict),
        size=sum(_checked_size(folder / name) for name in weights),
    )


def _whole(config: Mapping[str, object], name: str) -> int | None:
    """A number of the text model, which models that see pictures have one level below."""
    inner = config.get("text_config")
    for part in (config, inner if isinstance(inner, dict) else {}):
        value = part.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _cache(config: Mapping[str, object]) -> float | None:
    """Keys and values of every layer: layers x heads x length x 2 x 2 bytes."""
    layers, heads = _whole(config, "num_hidden_layers"), _whole(config, "num_attention_heads")
    width = _whole(config, "hidden_size")
    if layers is None or heads is None or width is None:
        return None
    kept = _whole(config, "num_key_value_heads") or heads
    each = _whole(config, "head_dim") or width // heads
    return layers * kept * each * 4 / 1000


def _weights(folder: Path) -> tuple[str, ...]:
    """Names of the files with weights; those that the index names, where there is one."""
    if (folder / INDEX).is_file():
        found = _json_object(folder / INDEX).get("weight_map")
        if not isinstance(found, dict) or not found:
            raise _bad(folder / INDEX, "names no weights")
        names = sorted({str(name) for name in found.values()})
        if any(Path(name).name != name for name in names):
            raise _bad(folder / INDEX, "names a file outside its folder")
        for name in names:
            if not (folder / name).is_file():
                raise _bad(folder / name, "is missing")
        return tuple(names)
    try:
        names = sorted(each.name for each in folder.glob("*.safetensors") if each.is_file())
    except OSError as error:
        raise _bad(folder, f"cannot be read: {error.strerror or error}") from error
    if not names:
        raise _bad(folder, "has no .safetensors file")
    return tuple(names)


def _checked_size(path: Path) -> int:
    """Bytes of a file with weights, whose header must fit them.

    Raises:
        BadModelFileError: it is cut off or no such file.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(8)
            if len(start) != 8:
                raise _bad(path, "is cut off")
            (length,) = struct.unpack("<Q", start)
            if length > _MAX_JSON or length > size - 8:
                raise _bad(path, "is no safetensors file, or cut off")
            header = json.loads(file.read(length))
    except OSError as error:
        raise _bad(path, f"cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise _bad(path, "has a damaged header") from error
    if not isinstance(header, dict):
        raise _bad(path, "has a damaged header")
    if 8 + length + _end(header) != size:
        raise _bad(path, "has not the size that its header tells")
    return size


def _end(header: Mapping[str, object]) -> int:
    """Where the last tensor ends, behind the header."""
    ends = [0]
    for tensor in header.values():
        offsets = tensor.get("data_offsets") if isinstance(tensor, dict) else None
        if isinstance(offsets, list) and len(offsets) == 2 and isinstance(offsets[1], int):
            ends.append(offsets[1])
    return max(ends)


def _json_object(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_JSON + 1)
    except FileNotFoundError as error:
        raise _bad(path, "is missing") from error
    except OSError as error:
        raise _bad(path, f"cannot be read: {error.strerror or error}") from error
    try:
        value = json.loads(data[:_MAX_JSON])
    except (ValueError, RecursionError) as error:
        raise _bad(path, "is no JSON") from error
    if not isinstance(value, dict):
        raise _bad(path, "holds no JSON object")
    return value


def _bad(path: Path, reason: str) -> BadModelFileError:
    return BadModelFileError(
        f"{path} {reason}", hint="get the model again, or choose another folder"
    )
