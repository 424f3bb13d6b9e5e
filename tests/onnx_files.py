"""Networks that only look words up, as ONNX files."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "last_hidden_state"


def random_table(tokens=30_522, dimensions=6, seed=5):
    """A vector for each token."""
    return np.random.default_rng(seed).normal(size=(tokens, dimensions)).astype(np.float32)


def write_network(path, table, *, inputs=INPUTS, weights_elsewhere=False):
    """Write a network that gives a vector for each token, shape (texts, tokens, d).

    Args:
        path: the file; one that is there is replaced.
        table: shape (tokens, d), `float32`.
        inputs: names of the inputs, that of the tokens first.
        weights_elsewhere: put the table into a file beside the network.
    """
    shape = ["texts", "tokens"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", inputs[0]], [OUTPUT])],
        "words",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [*shape, table.shape[1]])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.unlink(missing_ok=True)
    where = {"location": "weights.bin", "size_threshold": 0} if weights_elsewhere else {}
    onnx.save(model, path, save_as_external_data=weights_elsewhere, **where)
