"""What a model is not asked for, because it cannot do it."""

from cloxy_hookspecs import ChatRequest, ModelInfo, UnsupportedModelError


def require(model: ModelInfo, request: ChatRequest) -> None:
    """Refuse what the model cannot do, before anything is generated.

    Raises:
        UnsupportedModelError: it takes no tools, or no form for its answer.
    """
    uses_tools = bool(request.tools) and request.tool_choice.mode != "none"
    if uses_tools and not model.tools:
        raise UnsupportedModelError(
            f"The model {model.id} of {model.backend} cannot call tools.",
            hint="Send the request without `tools`, or choose a model that takes them: "
            "CLOXY_LLM_CHAT names the back-end, CLOXY_LLM_MODEL the model of a server.",
        )
    if request.response_format is not None and not model.response_format:
        raise UnsupportedModelError(
            f"The model {model.id} of {model.backend} cannot answer in a given form.",
            hint="Send the request without `response_format`, or choose a back-end that takes it: "
            "CLOXY_LLM_CHAT names the back-end.",
        )
