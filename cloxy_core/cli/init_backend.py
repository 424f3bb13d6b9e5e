"""What would run a model here: the library that is needed, and what the running server says."""

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from cloxy_core.cli import fields
from cloxy_core.client import Client, UnreachableError
from cloxy_core.client_config import ClientError, data_directory, resolve_client
from cloxy_hookspecs.types.llm import ModelChoice

SECONDS: Final = 10.0
# format: (name for people, module, extra)
_LIBRARIES: Final = {
    "gguf": ("llama.cpp", "llama_cpp", "llama"),
    "mlx": ("MLX", "mlx_lm", "mlx"),
}


@dataclass(frozen=True, slots=True)
class ServerSays:
    """What the running server says of models.

    Attributes:
        running: whether one answers.
        model: the model that it answers with; empty when it has none.
        trouble: why that is not known, in words; empty when it is.
    """

    running: bool
    model: str = ""
    trouble: str = ""

    def as_object(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "running": self.running,
            "model": self.model or None,
            "trouble": self.trouble or None,
        }


def backend_of(choice: ModelChoice) -> str:
    """What runs it, for people."""
    if choice.format == "http":
        return f"the server at {choice.source}"
    return f"{_LIBRARIES[choice.format][0]}, in a process of its own"


def missing_extra(choice: ModelChoice) -> str | None:
    """The command that installs the library for it; None when it is there, or none is needed."""
    if choice.format == "http":
        return None
    _, module, extra = _LIBRARIES[choice.format]
    return None if find_spec(module) is not None else f"pip install 'cloxy[{extra}]'"


def ask_server() -> ServerSays:
    """Ask the running server for its models; it loads none for that."""
    try:
        config = resolve_client(os.environ, data_directory(os.environ))
        answer = Client(config).request("GET", "/v1/models", seconds=SECONDS)
    except UnreachableError:
        return ServerSays(running=False)
    except ClientError as error:
        return ServerSays(running=True, trouble=error.message)
    first = next(fields.records(answer, "data"), {})
    return ServerSays(running=True, model=fields.text(first, "id"))


def in_words(says: ServerSays, choice: ModelChoice) -> str:
    """What the server says, as one sentence for who has just chosen a model."""
    if not says.running:
        return "No server runs at this moment; `cloxy start` starts one."
    if says.trouble:
        return f"The running server could not be asked: {says.trouble}."
    if says.model in {choice.name, choice.model}:
        return "The running server answers with it from now on."
    if says.model:
        return (
            f"The running server answers with {says.model} all the same: look at the settings "
            "llm.chat (CLOXY_LLM_CHAT) and CLOXY_LLM_BASE_URL."
        )
    return "The running server has no model that it could answer with; look at `cloxy status`."
