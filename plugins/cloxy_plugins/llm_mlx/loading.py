"""Loads an MLX model; runs in the process of the model."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mlx_lm import load as load_mlx

from cloxy_hookspecs import HostedOptions, ModelError
from cloxy_plugins.llm_mlx.model import MLXModel
from cloxy_plugins.llm_mlx.template import ChatTemplate

USUAL_CONTEXT: Final = 32_768
"""Tokens, when its owner wants no other number: keys and values grow with use, up to this."""
_CONTEXT: Final = ("max_position_embeddings", "max_seq_len", "n_positions", "seq_length")


def load(options: HostedOptions) -> MLXModel:
    """Load the model that was chosen.

    Raises:
        ModelError: it is not there, is no model for conversations, or cannot be loaded.
    """
    choice = options.choice
    source = choice.path or choice.source
    try:
        # A model's own code is never run: `trust_remote_code` stays off.
        model, tokenizer, config = load_mlx(source, return_config=True)
    except Exception as error:  # the library and those under it fail in many ways
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ModelError(
            f"{source} cannot be loaded: {reason}",
            hint="download it with `cloxy init`, or choose another model there",
        ) from error
    if not tokenizer.has_chat_template:
        raise ModelError(
            f"{source} has no chat template: it continues texts, and answers nobody",
            hint="choose an instruct model with `cloxy init`",
        )
    trained = trained_context(config)
    wanted = choice.context_tokens or USUAL_CONTEXT
    return MLXModel(
        model,
        tokenizer,
        ChatTemplate(tokenizer),
        name=choice.name,
        context=min(wanted, trained or wanted),
        created=_created(source),
    )


def trained_context(config: Mapping[str, Any]) -> int | None:
    """Tokens that a model was trained for; None when its configuration does not tell."""
    places = [config, config.get("text_config"), config.get("language_config")]
    for place in places:
        if not isinstance(place, dict):
            continue
        for name in _CONTEXT:
            if isinstance(place.get(name), int) and place[name] > 0:
                return int(place[name])
    return None


def _created(source: str) -> int:
    try:
        return int(Path(source).stat().st_mtime)
    except OSError:
        return int(time.time())
