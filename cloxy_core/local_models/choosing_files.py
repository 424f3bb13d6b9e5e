"""Which files of a repository make a model: one GGUF file or its parts, or what MLX needs."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from cloxy_core.local_models.catalogue import ModelFormat
from cloxy_core.local_models.hub import HubFile, Listing
from cloxy_core.local_models.inspecting import SPLIT
from cloxy_hookspecs.errors import InputError

# The best compromise of size and quality first.
QUANTS: Final = (
    "Q4_K_M",
    "UD-Q4_K_M",
    "UD-Q4_K_XL",
    "Q4_K_S",
    "MXFP4",
    "IQ4_XS",
    "IQ4_NL",
    "Q4_0",
    "Q4_1",
    "Q5_K_M",
    "Q5_K_S",
    "Q6_K",
    "Q8_0",
    "Q3_K_L",
    "Q3_K_M",
)
_QUANT: Final = re.compile(
    r"(?:^|[-._/])((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]+)*|MXFP4(?:_MOE)?|BF16|F16|F32))(?=[-._/]|$)",
    re.IGNORECASE,
)
# Companions of a model and no models: for pictures, for guessing ahead, for calibration.
_ASIDE: Final = re.compile(
    r"mmproj|imatrix|(^|[-._/])(draft|mtp|assistant)([-._/]|$)", re.IGNORECASE
)
_MLX_NEEDED: Final = re.compile(
    r"config\.json|generation_config\.json|tokenizer[^/]*|vocab[^/]*|merges\.txt"
    r"|special_tokens_map\.json|added_tokens\.json|chat_template[^/]*"
    r"|[^/]+\.safetensors|[^/]+\.safetensors\.index\.json"
    r"|tiktoken\.model|[^/]+\.tiktoken|LICEN[CS]E[^/]*|USE_POLICY[^/]*",
)
_PYTHON: Final = re.compile(r"[^/]+\.py")


def format_of(listing: Listing) -> ModelFormat | None:
    """The format that a repository has; None when it has neither."""
    names = [file.path for file in listing.files]
    if any(name.lower().endswith(".gguf") for name in names):
        return "gguf"
    return "mlx" if "config.json" in names and _has_weights(listing.files) else None


def files_for(listing: Listing, kind: ModelFormat, selector: str | None) -> tuple[HubFile, ...]:
    """The files to get.

    Args:
        listing: the repository.
        kind: format of the model.
        selector: name of a file, or of a quantization such as `Q5_K_M`; None leaves it to us.

    Raises:
        InputError: it does not have them, or more than one answers to the selector.
    """
    return _mlx_files(listing, selector) if kind == "mlx" else _gguf_files(listing, selector)


def _mlx_files(listing: Listing, selector: str | None) -> tuple[HubFile, ...]:
    if selector is not None:
        raise InputError(
            f"{listing.repo} is one whole MLX model, without files to choose from",
            hint="leave out what is behind the colon",
        )
    # Code of a repository is never loaded, so it is not taken either.
    files = tuple(file for file in listing.files if _MLX_NEEDED.fullmatch(file.path))
    names = {file.path for file in files}
    if "config.json" not in names or not _has_weights(files):
        raise InputError(
            f"{listing.repo} is no MLX model: it has no config.json or no .safetensors",
            hint="look for one at https://huggingface.co/mlx-community",
        )
    if not any(name.startswith("tokenizer") for name in names):
        raise InputError(f"{listing.repo} has no tokenizer", hint="choose another repository")
    return files


def _has_weights(files: Sequence[HubFile]) -> bool:
    return any(file.path.endswith(".safetensors") for file in files)


def _gguf_files(listing: Listing, selector: str | None) -> tuple[HubFile, ...]:
    models = _gguf_models(listing)
    if not models:
        raise InputError(
            f"{listing.repo} has no GGUF model",
            hint="look for a repository of it whose name ends with -GGUF",
        )
    if selector is None:
        return models[min(models, key=lambda name: _rank(name, models[name]))]
    exact = [name for name, parts in models.items() if _is_file(parts, selector)]
    found = exact or [name for name in models if quant_of(name) == selector.upper()]
    found = found or [name for name in models if selector.casefold() in name.casefold()]
    if len(found) == 1:
        return models[found[0]]
    shown = ", ".join(sorted(found or models)[:12])
    which = "several of its files answer" if found else "none of its files answers"
    raise InputError(f"{which} to {selector} in {listing.repo}", hint=f"choose one of: {shown}")


def _gguf_models(listing: Listing) -> dict[str, tuple[HubFile, ...]]:
    """Whole models by the name of their first file; those with a part missing are left out."""
    parts: dict[str, dict[int, HubFile]] = {}
    totals: dict[str, int] = {}
    for file in listing.files:
        if not file.path.lower().endswith(".gguf") or _ASIDE.search(file.path):
            continue
        folder, name = PurePosixPath(file.path).parent, PurePosixPath(file.path).name
        match = SPLIT.fullmatch(name)
        key = file.path if match is None else str(folder / match["stem"])
        parts.setdefault(key, {})[1 if match is None else int(match["part"])] = file
        totals[key] = 1 if match is None else int(match["parts"])
    whole = {
        key: found for key, found in parts.items() if sorted(found) == [*range(1, totals[key] + 1)]
    }
    return {
        found[1].path: tuple(found[number] for number in sorted(found)) for found in whole.values()
    }


def _is_file(parts: Sequence[HubFile], selector: str) -> bool:
    return any(selector in {file.path, PurePosixPath(file.path).name} for file in parts)


def quant_of(path: str) -> str | None:
    """The quantization that a file's name tells, in capitals; None when it tells none."""
    found = _QUANT.findall(path)
    return found[-1].upper() if found else None


def _rank(name: str, parts: Sequence[HubFile]) -> tuple[int, int]:
    quant = quant_of(name)
    place = QUANTS.index(quant) if quant in QUANTS else len(QUANTS)
    return place, sum(file.size for file in parts)
