"""The loaded model: text to tokens, tokens through the network, and one vector of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from cloxy_hookspecs import ModelError, ModelMissingError
from cloxy_hookspecs.types.vectors import Float32Vector
from cloxy_plugins.minilm.files import NETWORK, TOKENIZER, is_whole, unreadable
from cloxy_plugins.minilm.names import READ_CHARACTERS

_SILENT = 4  # of the levels of onnxruntime: fatal errors alone; the others are raised anyway
_REPORT = "restart Cloxy; if it happens again, report it with the text of this message"
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_INPUTS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "input_ids": np.array,
    "attention_mask": np.ones_like,
    "token_type_ids": np.zeros_like,
}


class _Encoding(Protocol):
    @property
    def ids(self) -> list[int]: ...


class _Tokenizer(Protocol):
    def encode(self, text: str) -> _Encoding: ...


class _Argument(Protocol):
    @property
    def name(self) -> str: ...


class _Session(Protocol):
    def get_inputs(self) -> Sequence[_Argument]: ...
    def get_outputs(self) -> Sequence[_Argument]: ...
    def run(
        self, outputs: Sequence[str], inputs: Mapping[str, NDArray[np.int64]]
    ) -> Sequence[object]: ...


class SentenceModel:
    """A network of the BERT family with its tokenizer; not to be used by two threads at once."""

    def __init__(self, session: _Session, tokenizer: _Tokenizer, dimensions: int) -> None:
        """Look at what the network takes.

        Raises:
            ModelError: it takes something that this class cannot give.
        """
        self._session = session
        self._tokenizer = tokenizer
        self._dimensions = dimensions
        self._inputs = tuple(each.name for each in session.get_inputs())
        self._output = session.get_outputs()[0].name
        if unknown := set(self._inputs) - set(_INPUTS):
            raise ModelError(
                f"the network wants inputs that are not known: {', '.join(sorted(unknown))}",
                hint=f"wants a network with the inputs {', '.join(_INPUTS)}, or some of them",
            )

    def vector(self, text: str) -> Float32Vector:
        """The vector of a text, of unit length; texts beyond the model's window are cut.

        The network is given one text at a time and no padding: with int8 arithmetic a value
        depends on everything in the batch, and a vector may depend on its own text alone.

        Raises:
            ModelError: the network fails, or answers with something that is no vector.
        """
        ids = np.array([self._tokenizer.encode(_readable(text)).ids], dtype=np.int64)
        given = {name: _INPUTS[name](ids) for name in self._inputs}
        try:
            (answer,) = self._session.run([self._output], given)
        except Exception as error:
            raise ModelError(f"the network failed: {error}", hint=_REPORT) from error
        return self._unit(np.asarray(answer))

    def _unit(self, answer: NDArray[Any]) -> Float32Vector:
        """Mean over the tokens, where the network has not taken it itself; then unit length."""
        # Without padding every token counts, so the mean is that of the masked ones.
        row = answer.mean(axis=1)[0] if answer.ndim == 3 else answer[0]
        row = row.astype(np.float64)
        length = float(np.linalg.norm(row))
        if row.shape != (self._dimensions,) or not 0 < length < np.inf:
            raise ModelError(
                f"the network gave no usable vector: shape {row.shape}, length {length}",
                hint=_REPORT,
            )
        return cast("Float32Vector", (row / length).astype(np.float32))


def load_model(folder: Path, dimensions: int, tokens: int) -> SentenceModel:
    """Load the network and the tokenizer of a folder.

    Args:
        folder: where the files lie; they have been checked.
        dimensions: length of a vector.
        tokens: tokens of a text that are read.

    Raises:
        ModelMissingError: a file is missing or a library cannot be imported.
        ModelError: a file is not what it should be, or the network has weights elsewhere.
    """
    network = folder / NETWORK
    try:
        whole = is_whole(network)
    except OSError as error:
        raise unreadable(network, error) from error
    if not whole:
        raise ModelMissingError(
            f"{network} has weights in another file",
            hint="wants a network that is one file (external data is not read)",
        )
    try:
        tokenizer = _open_tokenizer(folder / TOKENIZER, tokens)
        session = _open_session(network)
    except ImportError as error:
        raise ModelMissingError(
            f"a library that runs the model cannot be loaded: {error}",
            hint="run `pip install --force-reinstall onnxruntime tokenizers`",
        ) from error
    except Exception as error:
        raise ModelError(
            f"the model in {folder} cannot be loaded: {error}", hint=_REPORT
        ) from error
    return SentenceModel(session, tokenizer, dimensions)


def _open_tokenizer(path: Path, tokens: int) -> _Tokenizer:
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=tokens)
    return cast("_Tokenizer", tokenizer)


def _open_session(network: Path) -> _Session:
    """A session that keeps to one thread, does not spin, and prints nothing."""
    runtime = import_module("onnxruntime")
    runtime.set_default_logger_severity(_SILENT)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    # It never gives memory back, but the window of tokens bounds it to about 13 MB; without it a
    # run costs a tenth more, and leaves more behind in the allocator of the system.
    options.enable_cpu_mem_arena = True
    # By path, not by its bytes: those would stay in memory beside the session's own.
    session = runtime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
    return cast("_Session", session)


def _readable(text: str) -> str:
    """The part of a text that can matter, without halves of surrogate pairs."""
    return _HALF_A_PAIR.sub("\ufffd", text[:READ_CHARACTERS])
