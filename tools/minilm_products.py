"""Products with constant matrices in a graph, in floats and in eight bits."""

from collections.abc import Callable
from typing import Any

import numpy as np
from minilm_weights import Dense, Floats
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

Product = Callable[["Graph", str, Dense], str]

Attribute = Any  # node attributes: numbers, or lists of them

_SIGNED = 127
_WEIGHT = 110
"""Largest weight of a product. Processors with AVX2 but without VNNI add two products of bytes in
16 bits, and cut what goes over. With 127 that costs a tenth of a percent of cosine there, and
makes vectors hang on the machine; with 110 it hardly happens, and little is lost."""
_UNSIGNED = 255
_MIDDLE = 128
_GELU_FLOOR = np.float32(0.17)
"""The smallest value of the exact GELU is -0.16997."""


class Graph:
    """Nodes and constants, as they are put together."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}
        self.fed: dict[str, str] = {}

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Adds a constant once, and gives its name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def number(self, value: float) -> str:
        """A scalar float constant."""
        return self.constant(f"number.{value:.9g}", np.array(value, np.float32))

    def whole(self, *values: int) -> str:
        """A list of int64, as shapes and axes want it."""
        return self.constant(f"whole.{'.'.join(map(str, values))}", np.array(values, np.int64))

    def add(
        self, kind: str, *inputs: str, output: str | None = None, **attributes: Attribute
    ) -> str:
        """Adds a node with one output, and gives the output's name."""
        name = f"{kind}.{len(self.nodes)}"
        output = output or name
        self.nodes.append(helper.make_node(kind, inputs, [output], name=name, **attributes))
        return output

    def add_many(self, kind: str, count: int, *inputs: str, **attributes: Attribute) -> list[str]:
        """Adds a node with several outputs."""
        name = f"{kind}.{len(self.nodes)}"
        outputs = [f"{name}.{index}" for index in range(count)]
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=name, **attributes))
        return outputs


def float_product(graph: Graph, tensor: str, dense: Dense) -> str:
    """The layer as it is."""
    graph.fed[dense.name] = tensor
    weight = graph.constant(dense.name + ".weight", dense.weight)
    return _biased(graph, graph.add("MatMul", tensor, weight), dense, dense.bias)


def row_product(graph: Graph, tensor: str, dense: Dense) -> str:
    """A product of bytes in which each token has a scale of its own.

    One scale for the whole tensor, as onnxruntime's dynamic quantisation has it, lets a text's
    vector hang on the texts next to it, and is coarser.
    """
    peak = graph.add("ReduceMax", graph.add("Abs", tensor), axes=[-1], keepdims=1)
    even = graph.add("Mul", tensor, graph.add("Reciprocal", peak))
    weight, scale = _eight_bits(dense.weight, axis=0, largest=_WEIGHT)
    return _byte_product(graph, even, peak, (1 / _SIGNED, _MIDDLE), dense, (weight, scale))


def gelu_row_product(graph: Graph, tensor: str, dense: Dense) -> str:
    """The same for inputs that are never below -0.17: all 256 steps go to what they can be.

    The inputs are raised by 0.17, and what that adds is taken off the bias.
    """
    raised = graph.add("Add", tensor, graph.number(float(_GELU_FLOOR)))
    peak = graph.add("ReduceMax", raised, axes=[-1], keepdims=1)
    even = graph.add("Mul", raised, graph.add("Reciprocal", peak))
    weight, scale = _eight_bits(dense.weight, axis=0, largest=_WEIGHT)
    surplus = _GELU_FLOOR * (weight.astype(np.float32) * scale).sum(axis=0)
    lowered = Dense(dense.name, dense.weight, dense.bias - surplus)
    return _byte_product(graph, even, peak, (1 / _UNSIGNED, 0), lowered, (weight, scale))


def words_in_floats(graph: Graph, table: Floats, numbers: str) -> str:
    """Looks the rows of a table up."""
    return graph.add("Gather", graph.constant("words", table), numbers)


def words_in_eight_bits(graph: Graph, table: Floats, numbers: str) -> str:
    """Looks the rows up in a table of bytes in which each row has a scale of its own."""
    values, scale = _eight_bits(table, axis=1, largest=_SIGNED)
    rows = graph.add("Gather", graph.constant("words", values), numbers)
    scales = graph.add("Gather", graph.constant("words.scale", scale), numbers)
    return graph.add("Mul", graph.add("Cast", rows, to=TensorProto.FLOAT), scales)


def _byte_product(
    graph: Graph,
    even: str,
    peak: str,
    grid: tuple[float, int],
    dense: Dense,
    weights: tuple[NDArray[np.int8], Floats],
) -> str:
    """Quantise, multiply, scale back.

    The pairs of QuantizeLinear and DequantizeLinear are the form that onnxruntime turns into
    one product of bytes; any other runtime gets the same numbers from floats.
    """
    step = graph.number(grid[0])
    zero = graph.constant(f"zero.{grid[1]}", np.array(grid[1], np.uint8))
    taken = graph.add("QuantizeLinear", even, step, zero)
    left = graph.add("DequantizeLinear", taken, step, zero)
    right = graph.add(
        "DequantizeLinear",
        graph.constant(dense.name + ".weight", weights[0]),
        graph.constant(dense.name + ".scale", weights[1].ravel()),
        graph.constant(dense.name + ".zero", np.zeros(weights[1].size, np.int8)),
        axis=1,
    )
    total = graph.add("Mul", graph.add("MatMul", left, right), peak)
    return _biased(graph, total, dense, dense.bias)


def _biased(graph: Graph, tensor: str, dense: Dense, bias: Floats) -> str:
    return graph.add("Add", tensor, graph.constant(dense.name + ".bias", bias))


def _eight_bits(values: Floats, axis: int, largest: int) -> tuple[NDArray[np.int8], Floats]:
    """Rounds to -largest..largest, with one scale for all that lie along `axis`."""
    scale = np.abs(values).max(axis=axis, keepdims=True) / np.float32(largest)
    scale = np.where(scale == 0, np.float32(1), scale).astype(np.float32)
    return np.rint(values / scale).astype(np.int8), scale
