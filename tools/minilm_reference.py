"""The model once more in plain numpy, to check the graph against something independent."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from minilm_weights import BLOCKS, HEAD_WIDTH, HEADS, WIDTH, Floats


def embed(tensors: Mapping[str, Floats], tokens: Sequence[int]) -> Floats:
    """The unit vector of one text, straight from the published tensors."""
    count = len(tokens)
    state = tensors["embeddings.word_embeddings.weight"][list(tokens)]
    state = state + tensors["embeddings.position_embeddings.weight"][:count]
    state = state + tensors["embeddings.token_type_embeddings.weight"][0]
    state = _norm(tensors, "embeddings.LayerNorm", state)
    for index in range(BLOCKS):
        stem = f"encoder.layer.{index}."
        attended = _attention(tensors, stem + "attention.self.", state)
        attended = _dense(tensors, stem + "attention.output.dense", attended)
        state = _norm(tensors, stem + "attention.output.LayerNorm", attended + state)
        wide = _dense(tensors, stem + "intermediate.dense", state)
        wide = wide * (0.5 + 0.5 * np.vectorize(math.erf)(wide / math.sqrt(2)))
        narrow = _dense(tensors, stem + "output.dense", wide)
        state = _norm(tensors, stem + "output.LayerNorm", narrow + state)
    mean = state.mean(axis=0)
    vector: Floats = (mean / np.linalg.norm(mean)).astype(np.float32)
    return vector


def _attention(tensors: Mapping[str, Floats], stem: str, state: Floats) -> Floats:
    query, key, value = (
        _dense(tensors, stem + part, state).reshape(-1, HEADS, HEAD_WIDTH).swapaxes(0, 1)
        for part in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(1, 2) / math.sqrt(HEAD_WIDTH)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    context = shares / shares.sum(axis=-1, keepdims=True) @ value
    joined: Floats = context.swapaxes(0, 1).reshape(-1, WIDTH)
    return joined


def _dense(tensors: Mapping[str, Floats], name: str, state: Floats) -> Floats:
    product: Floats = state @ tensors[name + ".weight"].T + tensors[name + ".bias"]
    return product


def _norm(tensors: Mapping[str, Floats], name: str, state: Floats) -> Floats:
    centred = state - state.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    normed: Floats = centred / spread * tensors[name + ".weight"] + tensors[name + ".bias"]
    return normed
