"""Writes the ONNX graph of a sentence embedder: token numbers in, unit vectors out."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from minilm_products import Graph, Product, words_in_eight_bits, words_in_floats
from minilm_weights import BLOCKS, HEAD_WIDTH, HEADS, WIDTH, Network, Norm
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, checker, helper

INPUTS = ("input_ids", "attention_mask")
OUTPUT = "embedding"

_EPSILON = 1e-12
_HIDDEN = 10_000.0
_OPSET = 17
_IR_VERSION = 8

Words = Callable[[Graph, NDArray[np.float32], str], str]


def write_graph(
    network: Network, product: Product, gelu_product: Product, *, small_words: bool
) -> tuple[ModelProto, dict[str, str]]:
    """Writes a model with mean pooling and normalisation as its last steps.

    Texts of a batch are padded on the right. Token type is 0 throughout.

    Args:
        network: its weights.
        product: writes a dense layer whose inputs lie around zero.
        gelu_product: writes the one behind the activation function.
        small_words: whether the word table is kept in eight bits.

    Returns:
        The model, and the tensor that feeds each dense layer, by the layer's name.
    """
    graph = Graph()
    words: Words = words_in_eight_bits if small_words else words_in_floats
    mask = graph.add("Cast", INPUTS[1], to=TensorProto.FLOAT)
    fed, residual = _norm(graph, _embeddings(graph, network, words), network.first)
    hidden = _hidden_tokens(graph, mask)
    for block in network.blocks:
        attended = product(
            graph, _attention(graph, product(graph, fed, block.qkv), hidden), block.out
        )
        fed, residual = _norm(graph, graph.add("Add", attended, residual), block.middle)
        wide = _gelu(graph, product(graph, fed, block.up))
        narrow = gelu_product(graph, wide, block.down)
        fed, residual = _norm(graph, graph.add("Add", narrow, residual), block.last)
    _pool(graph, residual, mask)
    return _model(graph), graph.fed


def _embeddings(graph: Graph, network: Network, words: Words) -> str:
    """Words plus positions, counted from the left."""
    zero, one, two = (graph.whole(number) for number in (0, 1, 2))
    length = graph.add("Slice", graph.add("Shape", INPUTS[0]), one, two)
    table = graph.constant("positions", network.positions)
    positions = graph.add("Slice", table, zero, length, zero)
    return graph.add("Add", words(graph, network.words, INPUTS[0]), positions)


def _norm(graph: Graph, tensor: str, norm: Norm) -> tuple[str, str]:
    """The normalised tensor for products, and the one for the residual path."""
    gain = graph.constant(norm.name + ".gain", norm.gain)
    offset = graph.constant(norm.name + ".offset", norm.offset)
    fed = graph.add("LayerNormalization", tensor, gain, offset, axis=-1, epsilon=_EPSILON)
    if norm.restore is None:
        return fed, fed
    return fed, graph.add("Mul", fed, graph.constant(norm.name + ".restore", norm.restore))


def _hidden_tokens(graph: Graph, mask: str) -> str:
    """What to add to attention scores: 0 for a token, a large negative number for padding."""
    gap = graph.add("Sub", mask, graph.number(1))
    return graph.add("Unsqueeze", graph.add("Mul", gap, graph.number(_HIDDEN)), graph.whole(1, 2))


def _attention(graph: Graph, qkv: str, hidden: str) -> str:
    """Attention of all heads; the scaling of the scores lies in the query weights."""
    parts = graph.add_many("Split", 3, qkv, graph.whole(WIDTH, WIDTH, WIDTH), axis=-1)
    heads = graph.whole(0, 0, HEADS, HEAD_WIDTH)
    orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    query, key, value = (
        graph.add("Transpose", graph.add("Reshape", part, heads), perm=order)
        for part, order in zip(parts, orders, strict=True)
    )
    scores = graph.add("Add", graph.add("MatMul", query, key), hidden)
    context = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
    joined = graph.add("Transpose", context, perm=[0, 2, 1, 3])
    return graph.add("Reshape", joined, graph.whole(0, 0, WIDTH))


def _gelu(graph: Graph, tensor: str) -> str:
    """The exact form, in the shape that onnxruntime joins into one kernel."""
    inner = graph.add("Erf", graph.add("Div", tensor, graph.number(math.sqrt(2))))
    share = graph.add("Add", inner, graph.number(1))
    return graph.add("Mul", graph.add("Mul", tensor, share), graph.number(0.5))


def _pool(graph: Graph, tensor: str, mask: str) -> None:
    """The direction of the sum, which is that of the mean, over the tokens that count."""
    middle = graph.whole(1)
    row = graph.add("Unsqueeze", mask, middle)
    total = graph.add("Squeeze", graph.add("MatMul", row, tensor), middle)
    length = graph.add("ReduceL2", total, axes=[1], keepdims=1)
    graph.add("Div", total, graph.add("Max", length, graph.number(_EPSILON)), output=OUTPUT)


def _model(graph: Graph) -> ModelProto:
    shape: list[Any] = ["batch", "tokens"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in INPUTS]
    output = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["batch", WIDTH])
    body = helper.make_graph(
        graph.nodes, f"minilm-l{BLOCKS}", inputs, [output], list(graph.constants.values())
    )
    model = helper.make_model(
        body,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        producer_name="cloxy",
        ir_version=_IR_VERSION,
    )
    checker.check_model(model, full_check=True)
    return model
