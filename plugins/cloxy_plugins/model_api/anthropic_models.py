"""Models in the form of Anthropic's list of models."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from cloxy_hookspecs import ModelInfo
from cloxy_plugins.model_api.fields import FieldError

_LIMIT = 20
_MOST = 1000
_LATEST = 253_402_300_799
"""The last second of the year 9999: what claims to be later has no date that can be written."""


def one(model: ModelInfo) -> dict[str, object]:
    """A model; one whose date is not known is of the epoch, as Anthropic's own are."""
    created = min(max(model.created or 0, 0), _LATEST)
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.id,
        "created_at": f"{datetime.fromtimestamp(created, UTC):%Y-%m-%dT%H:%M:%SZ}",
        "lifecycle": "active",
        "max_input_tokens": model.context_tokens,
    }


def page(models: Sequence[ModelInfo], query: Mapping[str, str]) -> dict[str, object]:
    """A part of the list.

    Args:
        models: all of them.
        query: `limit` (1 to 1000), and `before_id` or `after_id`, the model next to the part.

    Raises:
        FieldError: one cannot be used.
    """
    limit = _limit(query.get("limit"))
    begin, end = 0, len(models)
    if after := query.get("after_id"):
        begin = _place(models, "after_id", after) + 1
    if before := query.get("before_id"):
        end = _place(models, "before_id", before)
    within = models[begin:end]
    shown = within[-limit:] if before and not after else within[:limit]
    return {
        "data": [one(model) for model in shown],
        "has_more": len(shown) < len(within),
        "first_id": shown[0].id if shown else None,
        "last_id": shown[-1].id if shown else None,
    }


def _limit(value: str | None) -> int:
    if value is None:
        return _LIMIT
    if not (value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= _MOST):
        raise FieldError("limit", f"must be a whole number from 1 to {_MOST}")
    return int(value)


def _place(models: Sequence[ModelInfo], name: str, wanted: str) -> int:
    for index, model in enumerate(models):
        if model.id == wanted:
            return index
    raise FieldError(name, f"there is no model {wanted!r}")
