"""A choice of a model that somebody else's server has."""

from cloxy_core.local_models.endpoints import Endpoint
from cloxy_hookspecs.errors import InputError
from cloxy_hookspecs.types.llm import ModelChoice


def server_choice(
    endpoint: Endpoint, model: str | None, *, remote: bool
) -> tuple[ModelChoice, tuple[str, ...]]:
    """A choice of a server's model, and what a person should know.

    Args:
        endpoint: the server.
        model: which of its models; None for its first.
        remote: whether it is on another machine.

    Raises:
        InputError: it has no models, or not this one.
    """
    known = endpoint.models
    if model is None and not known:
        raise InputError(
            f"the server at {endpoint.base_url} has no model",
            hint="get one there, with Ollama: `ollama pull qwen3:4b`; or name one with --model",
        )
    notes: list[str] = []
    chosen = model or known[0]
    if known and chosen not in known and chosen not in endpoint.cloud:
        raise InputError(
            f"the server at {endpoint.base_url} has no model {chosen}",
            hint=f"it has: {', '.join(known[:10])}",
        )
    if remote or chosen in endpoint.cloud:
        notes.append(
            "conversations, with memories in them, would leave this machine; Cloxy sends nothing "
            "there before you set CLOXY_LLM_ALLOW_REMOTE=1 for the server"
        )
    choice = ModelChoice(name=chosen, format="http", source=endpoint.base_url, model=chosen)
    return choice, tuple(notes)
