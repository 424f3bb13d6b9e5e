"""Operations: what can be asked of Cloxy, and the doors that lead there."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from cloxy_core.surfaces.operations import Operation
from cloxy_core.testing.conformance.base import CreatedConformance
from cloxy_core.testing.conformance.doors import (
    prompt_faults,
    resource_faults,
    text_faults,
    tool_faults,
)
from cloxy_core.testing.corpus import dump, fill
from cloxy_core.testing.harness import App
from cloxy_hookspecs import OperationProvider, Prompt, Resource, Route, Tool, ValidationError
from cloxy_hookspecs.seats import OPERATIONS

EFFECTS = ("read", "write", "admin")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_SEGMENT = re.compile(r"[A-Za-z0-9._~-]+|\{[a-z][a-z0-9_]*\}")
_FIELD = re.compile(r"\{([^}]*)\}")
_BRANCHES = ("anyOf", "oneOf", "allOf", "prefixItems")
_NESTED = ("items", "additionalProperties", "not")
_NAMED = ("properties", "$defs", "patternProperties")


class OperationConformance(CreatedConformance, of_the_kit=True):
    """An operation.

    Give `provider`, and `arguments`: input with which it succeeds on the kit's corpus.
    """

    seat = OPERATIONS

    @pytest.fixture
    def arguments(self) -> Mapping[str, object]:
        """Input with which it succeeds; give it in the subclass when some is required."""
        return {}

    @pytest.fixture
    def filled(self, app: App) -> App:
        """The application with the kit's corpus in its store."""
        app.write(fill)
        return app

    def test_schemas_are_valid(self, provider: OperationProvider[Any, Any]) -> None:
        """Every door shows them: they are JSON Schema, and every reference leads somewhere."""
        for model in (provider.input, provider.output):
            assert issubclass(model, BaseModel)
            for schema in (
                model.model_json_schema(mode="validation"),
                model.model_json_schema(mode="serialization"),
            ):
                assert json.loads(json.dumps(schema)) == schema
                assert list(schema_faults(schema)) == []

    def test_effect_is_known(self, provider: OperationProvider[Any, Any]) -> None:
        """Keys and hints go by it."""
        assert provider.effect in EFFECTS

    def test_doors_have_valid_paths(self, provider: OperationProvider[Any, Any]) -> None:
        """Plain segments, names that are fields, and a status of success."""
        routes = [door for door in provider.doors if isinstance(door, Route)]
        for door in routes:
            assert door.method in METHODS
            assert door.path.startswith("/")
            segments = door.path.removeprefix("/").split("/") if door.path != "/" else []
            assert all(_SEGMENT.fullmatch(segment) for segment in segments), door.path
            names = _FIELD.findall(door.path)
            assert len(names) == len(set(names)), door.path
            assert set(names) <= set(provider.input.model_fields), door.path
            assert 200 <= door.status < 300, door.path
        places = [(door.method, _FIELD.sub("{}", door.path)) for door in routes]
        assert len(places) == len(set(places)), "two doors at one place"

    def test_mcp_doors_are_sound(self, provider: OperationProvider[Any, Any]) -> None:
        """Names, addresses and arguments are such that clients take them, and fit the operation."""
        faults: list[str] = []
        for door in provider.doors:
            if isinstance(door, Tool):
                faults += tool_faults(provider, door)
            elif isinstance(door, Resource):
                faults += resource_faults(provider, door)
            elif isinstance(door, Prompt):
                faults += prompt_faults(provider, door)
        assert faults == []

    def test_mcp_doors_are_told_apart(self, provider: OperationProvider[Any, Any]) -> None:
        """Of two with one name or address only the first could be reached."""
        names = [(type(d), d.name) for d in provider.doors if isinstance(d, Tool | Prompt)]
        assert len(names) == len(set(names)), "two doors with one name"
        uris = [_FIELD.sub("{}", d.uri) for d in provider.doors if isinstance(d, Resource)]
        assert len(uris) == len(set(uris)), "two resources at one address"

    def test_schemas_of_mcp_doors_are_valid(self, provider: OperationProvider[Any, Any]) -> None:
        """Arguments of their own are JSON Schema too, and objects."""
        for door in provider.doors:
            if isinstance(door, Tool | Prompt) and door.input is not None:
                schema = door.input.model_json_schema(mode="validation")
                assert json.loads(json.dumps(schema)) == schema
                assert schema["type"] == "object"
                assert list(schema_faults(schema)) == []

    def test_its_answer_can_be_told_as_text(
        self,
        provider: OperationProvider[Any, Any],
        made: Any,  # noqa: ANN401 - what any operation's record makes
        arguments: Mapping[str, object],
        filled: App,
    ) -> None:
        """Every MCP door makes words of a real answer, of each of its items, and of none."""
        doors = [d for d in provider.doors if not isinstance(d, Route)]
        if not doors:
            return
        answer = filled.do(Operation(provider, made).run(arguments))
        assert [fault for door in doors for fault in text_faults(door, answer)] == []

    def test_what_can_be_got_only_reads(self, provider: OperationProvider[Any, Any]) -> None:
        """Browsers and proxies repeat a GET as they like."""
        if any(isinstance(door, Route) and door.method == "GET" for door in provider.doors):
            assert provider.effect == "read"

    def test_it_answers_with_its_output(
        self,
        provider: OperationProvider[Any, Any],
        made: Any,  # noqa: ANN401 - what any operation's record makes
        arguments: Mapping[str, object],
        filled: App,
    ) -> None:
        """The answer is of the declared model, and JSON."""
        answer = filled.do(Operation(provider, made).run(arguments))
        assert isinstance(answer, provider.output)
        assert provider.output.model_validate_json(answer.model_dump_json()) == answer

    def test_a_read_writes_nothing(
        self,
        provider: OperationProvider[Any, Any],
        made: Any,  # noqa: ANN401 - what any operation's record makes
        arguments: Mapping[str, object],
        filled: App,
    ) -> None:
        """Every table is as it was."""
        if provider.effect != "read":
            return
        before = filled.read(dump)
        filled.do(Operation(provider, made).run(arguments))
        assert filled.read(dump) == before

    def test_bad_input_is_refused_by_its_model(
        self,
        provider: OperationProvider[Any, Any],
        made: Any,  # noqa: ANN401 - what any operation's record makes
        arguments: Mapping[str, object],
        app: App,
    ) -> None:
        """A required field that is missing, and a field of a wrong type, are named."""
        operation = Operation(provider, made)
        for name, field in provider.input.model_fields.items():
            key = field.alias or name
            wrong = [{**arguments, key: {"no": ["such", {"value": None}]}}]
            if field.is_required():
                wrong.append({k: value for k, value in arguments.items() if k != key})
            for values in wrong:
                if _takes_objects(provider.input, key) and key in values:
                    continue
                with pytest.raises(ValidationError, match=re.escape(key)):
                    app.do(operation.run(values))


def schema_faults(schema: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a JSON Schema, in words; nothing when it is sound."""
    yield from _faults(schema, schema, "#")


def _faults(schema: object, root: Mapping[str, Any], place: str) -> Iterator[str]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        yield f"{place}: {schema!r} is no schema"
        return
    reference = schema.get("$ref")
    if reference is not None and not _leads_somewhere(reference, root):
        yield f"{place}: {reference!r} leads nowhere"
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind not in TYPES:
            yield f"{place}: {kind!r} is no type"
    missing = set(schema.get("required", ())) - set(schema.get("properties", ()))
    if missing:
        yield f"{place}: required, but not described: {sorted(missing)}"
    for name, inner in _inner(schema):
        yield from _faults(inner, root, f"{place}/{name}")


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name in _NESTED:
        if name in schema:
            yield name, schema[name]
    for name in _BRANCHES:
        for number, inner in enumerate(schema.get(name, ())):
            yield f"{name}/{number}", inner
    for name in _NAMED:
        for key, inner in schema.get(name, {}).items():
            yield f"{name}/{key}", inner


def _leads_somewhere(reference: object, root: Mapping[str, Any]) -> bool:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return False
    place: Any = root
    for part in reference.removeprefix("#/").split("/"):
        if not isinstance(place, Mapping) or part not in place:
            return False
        place = place[part]
    return True


def _takes_objects(model: type[BaseModel], key: str) -> bool:
    """Whether an object is a good value of a field."""
    field = model.model_json_schema()["properties"][key]
    branches = field.get("anyOf", [field])
    return any(branch.get("type", "object") == "object" for branch in branches)
