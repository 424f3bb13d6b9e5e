"""A model in a folder, as sentence-transformers and the hub lay it out."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloxy_hookspecs import ModelError, ModelMissingError
from cloxy_plugins.fastembed.catalogue import LONGEST_WINDOW

_STEMS = (
    "model",
    "model_optimized",
    "model_quantized",
    "model_int8",
    "model_qint8",
    "model_uint8",
    "model_quint8",
    "model_quint8_avx2",
    "model_fp16",
)
_NEEDED = ("tokenizer.json", "tokenizer_config.json")
_POOLING = "1_Pooling/config.json"
_SENTENCES = "sentence_bert_config.json"
_MEANT = ("config.json", *_NEEDED, "special_tokens_map.json", _POOLING, _SENTENCES)
_LENGTHS = ("hidden_size", "n_embd", "dim", "d_model")
_POOLINGS = {"mean": "MEAN", "cls": "CLS", "lasttoken": "LAST_TOKEN"}
_EDGE = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """What is known of a model in a folder without loading it.

    Attributes:
        path: the folder.
        file: the ONNX file, relative to the folder.
        window: tokens of a text that the model reads.
    """

    path: Path
    file: str
    window: int

    @property
    def name(self) -> str:
        """The folder's own name; where it lies does not matter."""
        return self.path.name

    def dim(self) -> int:
        """Length of a vector.

        Raises:
            ModelMissingError: neither config.json nor the pooling says it, or they are damaged.
        """
        pooling, config = self._facts(_POOLING), self._facts("config.json")
        lengths = [pooling.get("word_embedding_dimension"), *map(config.get, _LENGTHS)]
        found = next((length for length in lengths if _is_count(length)), None)
        if found is None:
            raise ModelMissingError(
                f"{self.path / 'config.json'} does not say how long a vector is",
                hint="put the model's own config.json there: it has hidden_size",
            )
        return int(found)

    def pooling(self) -> str:
        """How one vector is made of many: `MEAN`, `CLS` or `LAST_TOKEN`.

        Raises:
            ModelMissingError: the file that says it is damaged.
            ModelError: it is made in another way.
        """
        facts = self._facts(_POOLING)
        spelled = {"cls_token": "cls", "mean_tokens": "mean"}
        ways = {
            spelled.get(key.removeprefix("pooling_mode_"), key.removeprefix("pooling_mode_"))
            for key, value in facts.items()
            if key.startswith("pooling_mode_") and value is True
        }
        ways |= {str(facts["pooling_mode"])} if "pooling_mode" in facts else set()
        if not ways:
            return "MEAN"
        if len(ways) == 1 and (way := ways.pop()) in _POOLINGS:
            return _POOLINGS[way]
        raise ModelError(
            f"{self.path / _POOLING} wants a pooling that cannot be done here",
            hint="mean, cls and lasttoken can be done, one of them at a time",
        )

    def revision(self) -> str:
        """Which weights: a hash of the small files, and of size and edges of the large ones.

        It must be known when the server starts, and a model may have gigabytes. Two trainings of
        one model differ in nearly every weight, so a mebibyte from either end tells them apart.

        Raises:
            ModelMissingError: a file cannot be read.
        """
        digest = hashlib.sha256(self.file.encode())
        try:
            for name in _MEANT:
                if (self.path / name).is_file():
                    content = (self.path / name).read_bytes()
                    digest.update(f"{name}\0{len(content)}\0".encode() + content)
            for path in self._weights():
                digest.update(f"{path.name}\0{path.stat().st_size}\0".encode() + _edges(path))
        except OSError as error:
            raise ModelMissingError(
                f"the model in {self.path} cannot be read: {error.strerror or error}"
            ) from error
        return digest.hexdigest()

    def _weights(self) -> Iterator[Path]:
        """The ONNX file, and the files beside it in which its weights may lie."""
        network = self.path / self.file
        yield network
        yield from sorted(
            path
            for path in network.parent.iterdir()
            if path.is_file() and path.name.startswith((f"{network.name}_", f"{network.name}."))
        )

    def _facts(self, name: str) -> Mapping[str, Any]:
        return _read_facts(self.path / name)


def read_folder(path: Path) -> ModelFolder:
    """Look at a folder; the model is not loaded.

    Raises:
        ModelMissingError: there is no such folder, no model in it, or a file of it is missing.
    """
    if not path.is_dir():
        raise ModelMissingError(
            f"there is no folder {path}", hint="the setting of the model names it"
        )
    for name in _NEEDED:
        if not (path / name).is_file():
            raise ModelMissingError(f"{path / name} is missing", hint="a model needs it")
    window = _read_facts(path / _SENTENCES).get("max_seq_length")
    if not isinstance(window, int) or not 0 < window < LONGEST_WINDOW:
        window = LONGEST_WINDOW
    return ModelFolder(path, _network(path), window)


def _network(path: Path) -> str:
    """The ONNX file of a folder: the usual names first, else the only one that there is."""
    names = [f"{place}{stem}.onnx" for stem in _STEMS for place in ("", "onnx/")]
    for name in names:
        if (path / name).is_file():
            return name
    others = sorted([*path.glob("*.onnx"), *path.glob("onnx/*.onnx")])
    if len(others) == 1:
        return others[0].relative_to(path).as_posix()
    found = f"there are {len(others)} files *.onnx" if others else "there is no file *.onnx"
    raise ModelMissingError(
        f"{found} in {path}", hint="name the wanted one model.onnx or onnx/model.onnx"
    )


def _read_facts(path: Path) -> Mapping[str, Any]:
    """What a JSON file says; nothing when it is not there."""
    try:
        facts = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ModelMissingError(f"{path} cannot be read: {error}") from error
    if not isinstance(facts, dict):
        raise ModelMissingError(f"{path} is damaged: an object is wanted")
    return facts


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _edges(path: Path) -> bytes:
    """The first and the last mebibyte of a file."""
    with path.open("rb") as file:
        first = file.read(_EDGE)
        size = path.stat().st_size
        file.seek(max(size - _EDGE, len(first)))
        return first + file.read(_EDGE)
