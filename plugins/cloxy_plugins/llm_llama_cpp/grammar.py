"""Grammars that hold an answer to a form."""

import json
from typing import Any, Final

from llama_cpp.llama_grammar import (  # noqa: TID253 - imported in the model's process only
    JSON_GBNF,
    LlamaGrammar,
)

from cloxy_hookspecs import ChatRequest, ToolSpec, UnsupportedModelError
from cloxy_plugins.llm_llama_cpp.calls import CallForm
from cloxy_plugins.llm_llama_cpp.vocabulary import Vocabulary

_NAMES: Final = {"tagged": "arguments", "whole": "parameters"}


def grammar_of(
    request: ChatRequest, form: CallForm | None, vocabulary: Vocabulary
) -> LlamaGrammar | None:
    """The grammar that a request asks for; None for free text.

    Raises:
        UnsupportedModelError: it cannot be made.
    """
    if request.tools and request.tool_choice.mode in {"required", "named"} and form is not None:
        return _checked(_schema_grammar(_call_schema(request, form)), vocabulary)
    wanted = request.response_format
    if wanted is None:
        return None
    if wanted.schema is None:
        return LlamaGrammar.from_string(JSON_GBNF)
    return _checked(_schema_grammar(dict(wanted.schema)), vocabulary)


def _call_schema(request: ChatRequest, form: CallForm) -> dict[str, Any]:
    name = request.tool_choice.name
    named = request.tool_choice.mode == "named"
    tools = [tool for tool in request.tools if not named or tool.name == name]
    if not tools:
        raise UnsupportedModelError(
            f"there is no tool {name!r} to call", hint="name one of those that are given"
        )
    return {"anyOf": [_one(tool, form) for tool in tools]}


def _one(tool: ToolSpec, form: CallForm) -> dict[str, Any]:
    parameters = dict(tool.parameters) or {"type": "object"}
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, _NAMES[form]: parameters},
        "required": ["name", _NAMES[form]],
    }


def _schema_grammar(schema: dict[str, Any]) -> LlamaGrammar:
    try:
        return LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)
    except Exception as error:  # it asserts, and fails in other ways too
        reason = " ".join(str(error).split())[:300]
        raise UnsupportedModelError(
            f"the JSON schema cannot be used: {reason}", hint="simplify the schema"
        ) from error


def _checked(grammar: LlamaGrammar, vocabulary: Vocabulary) -> LlamaGrammar:
    if not vocabulary.takes_grammar(grammar._grammar):
        raise UnsupportedModelError(
            "llama.cpp cannot use the grammar of this JSON schema", hint="simplify the schema"
        )
    return grammar
