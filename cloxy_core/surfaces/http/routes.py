"""Doors of operations as routes.

A body is one JSON object, parameters of the path and of the query are fields of the same input
model; the operation validates them together, so that every door of it refuses the same things
with the same words.
"""

import json
from collections.abc import Iterable
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response

from cloxy_core.surfaces.caller import called_by
from cloxy_core.surfaces.http.callers import is_owner
from cloxy_core.surfaces.mending import mended
from cloxy_core.surfaces.operations import Operation
from cloxy_hookspecs import InputError, Route, ValidationError

READ_METHODS = ["GET", "HEAD"]
BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})


def add_routes(app: FastAPI, operations: Iterable[Operation]) -> None:
    """Add a route for every door."""
    for operation in operations:
        for door in operation.record.doors:
            if isinstance(door, Route):
                _add_route(app, operation, door)


def _add_route(app: FastAPI, operation: Operation, door: Route) -> None:
    async def endpoint(request: Request) -> Response:
        values: dict[str, object] = dict(request.query_params)
        if door.method in BODY_METHODS:
            values.update(read_body(await request.body()))
        values.update(request.path_params)
        with called_by(owner=is_owner(request)):
            output = await operation.run(values)
        return Response(
            output.model_dump_json().encode(),
            status_code=door.status,
            media_type="application/json",
        )

    app.add_api_route(
        door.path,
        endpoint,
        methods=READ_METHODS if door.method == "GET" else [door.method],
        name=operation.record.name,
        summary=operation.record.summary,
    )


def read_body(data: bytes) -> dict[str, Any]:
    """The fields of a JSON object; an empty body is an object without fields.

    Raises:
        InputError: it is not JSON.
        ValidationError: it is no object.
    """
    if not data.strip():
        return {}
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _decode_lenient(data)
    if not isinstance(value, dict):
        raise ValidationError("the body must be a JSON object")
    return value


def _decode_lenient(data: bytes) -> object:
    """Once more with the standard decoder: it takes halves of surrogate pairs, which are mended.

    Raises:
        InputError: it is not JSON, or nested beyond all reason.
    """
    try:
        return mended(json.loads(data, parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        raise InputError("the body is not JSON", hint="send one JSON object in UTF-8") from error


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
