"""The weights of all-MiniLM-L6-v2 as the layers a graph is written from."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

BLOCKS = 6
WIDTH = 384
HEADS = 12
HEAD_WIDTH = WIDTH // HEADS

_TYPES = {"F32": "<f4", "I64": "<i8"}
_NORM_SHARE = 0.6
_CONTEXT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Dense:
    """A product with a constant matrix.

    Attributes:
        name: names its constants in the graph.
        weight: inputs by outputs.
        bias: one number for each output.
    """

    name: str
    weight: Floats
    bias: Floats

    def fed_with(self, divisor: Floats) -> "Dense":
        """The same layer for inputs that come divided by `divisor`."""
        return replace(self, weight=self.weight * divisor[:, None])


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer normalisation; `restore` undoes a division put into its gain and offset."""

    name: str
    gain: Floats
    offset: Floats
    restore: Floats | None = None

    def divided_by(self, divisor: Floats) -> "Norm":
        """Gives its output divided by `divisor`, which the residual path undoes."""
        return Norm(self.name, self.gain / divisor, self.offset / divisor, divisor)


@dataclass(frozen=True, slots=True)
class Block:
    """One transformer block. `qkv` has queries, keys and values side by side."""

    qkv: Dense
    out: Dense
    middle: Norm
    up: Dense
    down: Dense
    last: Norm


@dataclass(frozen=True, slots=True)
class Network:
    """The whole model; the position table has token type 0 added in."""

    words: Floats
    positions: Floats
    first: Norm
    blocks: tuple[Block, ...]


def read_safetensors(raw: bytes) -> dict[str, Floats]:
    """Reads the tensors of a safetensors file.

    Args:
        raw: the file: 8 bytes of header length, a JSON header, then the buffers end to end.
    """
    start = 8 + int.from_bytes(raw[:8], "little")
    tensors: dict[str, Floats] = {}
    for name, entry in json.loads(raw[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            flat = np.frombuffer(raw[start + begin : start + end], dtype=_TYPES[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def network(tensors: Mapping[str, Floats]) -> Network:
    """Arranges the named tensors as layers."""
    stem = "embeddings."
    positions = tensors[stem + "position_embeddings.weight"]
    return Network(
        words=tensors[stem + "word_embeddings.weight"],
        positions=positions + tensors[stem + "token_type_embeddings.weight"][0],
        first=_norm(tensors, stem + "LayerNorm"),
        blocks=tuple(_block(tensors, f"encoder.layer.{index}.") for index in range(BLOCKS)),
    )


def smooth(plain: Network, peaks: Mapping[str, Floats]) -> Network:
    """Moves outliers of single channels from the activations into the weights.

    One channel of the `[CLS]` token is ten times as large as all others, so that eight bits
    have little left for them. Each input channel of a product is divided by a factor and its
    weights multiplied by the same: exact before rounding (SmoothQuant, arXiv 2211.10438). The
    division costs nothing, as it goes into the layer that comes before.

    Args:
        plain: the model as published.
        peaks: the largest absolute input of each channel, by the name of the layer.
    """
    before = plain.first
    first: Norm | None = None
    blocks: list[Block] = []
    for block in plain.blocks:
        factor = _factor(block.qkv, peaks, _NORM_SHARE)
        smoothed = before.divided_by(factor)
        if blocks:
            blocks[-1] = replace(blocks[-1], last=smoothed)
        else:
            first = smoothed
        blocks.append(_smooth_block(replace(block, qkv=block.qkv.fed_with(factor)), peaks))
        before = block.last
    return replace(plain, first=first or plain.first, blocks=tuple(blocks))


def _smooth_block(block: Block, peaks: Mapping[str, Floats]) -> Block:
    """Divides the values and the middle normalisation of a block."""
    context = _factor(block.out, peaks, _CONTEXT_SHARE)
    values = np.concatenate([np.ones(2 * WIDTH, np.float32), context])
    inner = _factor(block.up, peaks, _NORM_SHARE)
    return replace(
        block,
        qkv=replace(block.qkv, weight=block.qkv.weight / values, bias=block.qkv.bias / values),
        out=block.out.fed_with(context),
        middle=block.middle.divided_by(inner),
        up=block.up.fed_with(inner),
    )


def _factor(dense: Dense, peaks: Mapping[str, Floats], share: float) -> Floats:
    """What to divide each input channel by.

    Powers of two: they fold without a rounding error, and the last bits of the peaks, which
    differ between machines, do not show.
    """
    size = np.abs(dense.weight).max(axis=1)
    exponent = share * np.log2(peaks[dense.name]) - (1 - share) * np.log2(size)
    factor: Floats = np.exp2(np.rint(exponent - exponent.mean())).astype(np.float32)
    return factor


def _block(tensors: Mapping[str, Floats], stem: str) -> Block:
    attention = stem + "attention."
    scale = np.float32(1 / math.sqrt(HEAD_WIDTH))
    query, key, value = (
        _dense(tensors, f"{attention}self.{part}") for part in ("query", "key", "value")
    )
    qkv = Dense(
        attention + "qkv",
        np.concatenate([query.weight * scale, key.weight, value.weight], axis=1),
        np.concatenate([query.bias * scale, key.bias, value.bias]),
    )
    return Block(
        qkv=qkv,
        out=_dense(tensors, attention + "output.dense"),
        middle=_norm(tensors, attention + "output.LayerNorm"),
        up=_dense(tensors, stem + "intermediate.dense"),
        down=_dense(tensors, stem + "output.dense"),
        last=_norm(tensors, stem + "output.LayerNorm"),
    )


def _dense(tensors: Mapping[str, Floats], name: str) -> Dense:
    return Dense(name, tensors[name + ".weight"].T, tensors[name + ".bias"])


def _norm(tensors: Mapping[str, Floats], name: str) -> Norm:
    return Norm(name, tensors[name + ".weight"], tensors[name + ".bias"])
