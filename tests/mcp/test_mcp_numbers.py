"""Whole numbers are written as such: what else could be taken for one forgets nothing."""

import pytest
from pydantic import ValidationError
from server.mcp_wire import Wire

from cloxy_plugins.memory import arguments, models, reembedding, rule_models


@pytest.fixture(scope="module")
def kept(filled):
    """A memory of a source of its own, and its id."""
    result = Wire(filled).call("remember", text="The kestrel key is brass.", source="numbers:a")
    return result["structuredContent"]["ids"][0]


def is_there(live, memory_id):
    return live.ask("GET", f"/memory/{memory_id}")[0] == 200


@pytest.mark.parametrize("number", [True, "1_0", " 1"])
def test_a_memory_is_forgotten_by_a_number_alone(wire, filled, kept, number):
    result = wire.call("forget", memory_id=number)
    assert result["isError"]
    assert "memory_id: " in result["content"][0]["text"]
    assert is_there(filled, 1)
    assert is_there(filled, kept)


def test_yes_is_no_count(filled, kept):
    wire = Wire(filled, "/mcp?toolsets=admin")
    result = wire.call("forget_source", source_prefix="numbers", confirm_count=True)
    assert result["isError"]
    assert "confirm_count: " in result["content"][0]["text"]
    status, told = filled.ask("POST", "/forget", {"source_prefix": "numbers", "expected": True})
    assert status == 422, told
    assert is_there(filled, kept)


@pytest.mark.parametrize("place", ["1_0", "%201", "1%0A", "+1_0", "%EF%BC%91"])
def test_an_address_names_its_memory_in_digits(filled, kept, place):
    assert filled.ask("DELETE", f"/memory/{place}")[0] in (400, 404, 422)
    assert "error" in Wire(filled).modern("resources/read", uri=f"cloxy://memory/{place}").message
    assert is_there(filled, kept)


def test_a_number_may_be_text_still(filled, kept):
    read = Wire(filled).modern("resources/read", uri=f"cloxy://memory/{kept}").result
    assert "kestrel" in read["contents"][0]["text"]
    result = Wire(filled).call("recall", query="kestrel", top_k="3")
    assert not result["isError"]


def whole_numbers():
    """Every whole number that an operation or a tool of memory takes."""
    for module in (arguments, models, reembedding, rule_models):
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, models.Input):
                for name, field in found.model_json_schema().get("properties", {}).items():
                    kinds = {
                        field.get("type"),
                        *(kind.get("type") for kind in field.get("anyOf", ())),
                    }
                    if "integer" in kinds and "string" not in kinds:
                        yield found, name


@pytest.mark.parametrize(("model", "name"), sorted(set(whole_numbers()), key=str))
@pytest.mark.parametrize("value", [True, False, "1_0", " 1", "1\n"])
def test_nothing_else_is_taken_for_a_number(model, name, value):
    with pytest.raises(ValidationError) as refused:
        model.model_validate({name: value})
    problems = {problem["loc"]: problem["msg"] for problem in refused.value.errors()}
    assert "written in digits" in problems[name,]
