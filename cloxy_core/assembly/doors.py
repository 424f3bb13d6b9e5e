"""What can be asked for at the doors."""

from collections.abc import Sequence

from cloxy_core.assembly.base import Base
from cloxy_core.surfaces.http.endpoints import Endpoint
from cloxy_core.surfaces.operations import Operation
from cloxy_core.surfaces.work import Gates
from cloxy_hookspecs.seats import ENDPOINTS, OPERATIONS


def make_operations(base: Base) -> Sequence[Operation]:
    """All operations that could be made."""
    gates = Gates()
    return [
        Operation(record, call, gates.of(record))
        for record in base.registry.all(OPERATIONS)
        for _name, call in base.lifespan.create_all([record])
    ]


def make_endpoints(base: Base) -> Sequence[Endpoint]:
    """All endpoints that could be made."""
    return [
        Endpoint(record, call)
        for record in base.registry.all(ENDPOINTS)
        for _name, call in base.lifespan.create_all([record])
    ]
