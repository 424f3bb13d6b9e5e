"""The list of models in Anthropic's form."""

import pytest

from cloxy_hookspecs import ModelInfo
from cloxy_plugins.model_api.anthropic_models import one, page
from cloxy_plugins.model_api.fields import FieldError

MODELS = [ModelInfo(id=f"m{number}", backend="b") for number in range(5)]


def ids(query):
    found = page(MODELS, query)
    shown = [model["id"] for model in found["data"]]
    assert (found["first_id"], found["last_id"]) == (
        (shown[0], shown[-1]) if shown else (None, None)
    )
    return shown, found["has_more"]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({}, (["m0", "m1", "m2", "m3", "m4"], False)),
        ({"limit": "2"}, (["m0", "m1"], True)),
        ({"limit": "5"}, (["m0", "m1", "m2", "m3", "m4"], False)),
        ({"after_id": "m1", "limit": "2"}, (["m2", "m3"], True)),
        ({"after_id": "m3"}, (["m4"], False)),
        ({"after_id": "m4"}, ([], False)),
        ({"before_id": "m3", "limit": "2"}, (["m1", "m2"], True)),
        ({"before_id": "m2"}, (["m0", "m1"], False)),
        ({"before_id": "m0"}, ([], False)),
    ],
)
def test_pages(query, shown):
    assert ids(query) == shown


def test_no_models():
    assert page([], {}) == {"data": [], "has_more": False, "first_id": None, "last_id": None}


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"limit": "9" * 5000}, "limit"),
        ({"limit": "two"}, "limit"),
        ({"limit": ""}, "limit"),
        ({"after_id": "x"}, "after_id"),
        ({"before_id": "x"}, "before_id"),
    ],
)
def test_what_cannot_be_used_is_told_by_name(query, param):
    with pytest.raises(FieldError) as caught:
        page(MODELS, query)
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("created", "told"),
    [
        (None, "1970-01-01T00:00:00Z"),
        (1_700_000_000, "2023-11-14T22:13:20Z"),
        (-5, "1970-01-01T00:00:00Z"),
        (10**15, "9999-12-31T23:59:59Z"),
    ],
)
def test_dates(created, told):
    model = ModelInfo(id="m", backend="b", created=created, context_tokens=4096)
    assert one(model) == {
        "type": "model",
        "id": "m",
        "display_name": "m",
        "created_at": told,
        "lifecycle": "active",
        "max_input_tokens": 4096,
    }
