"""Hooks of the surfaces: what people and programs can ask for."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs.markers import hookspec
from cloxy_hookspecs.providers.surface import EndpointProvider, OperationProvider


class SurfaceSpecs:
    """What Cloxy can be asked for."""

    @hookspec
    def cloxy_operations(self) -> Iterable[OperationProvider[Any, Any]]:
        """Operations and the doors that lead to them.

        Example:
            ```python
            @hookimpl
            def cloxy_operations():
                from my_plugin.greet import Greeting, Name, greet

                yield OperationProvider(
                    name="greeter-greet", summary="Say hello", input=Name, output=Greeting,
                    effect="read", doors=(Route("GET", "/greet/{name}"),),
                    create=lambda context: greet,
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_endpoints(self) -> Iterable[EndpointProvider]:
        """Paths whose form others prescribe.

        Example:
            ```python
            @hookimpl
            def cloxy_endpoints():
                async def ping(request):
                    return EndpointAnswer(body=b"pong", media_type="text/plain")

                yield EndpointProvider(
                    name="ping", summary="Answer", method="GET", path="/v2/ping", effect="read",
                    create=lambda context: ping,
                )
            ```
        """
        raise NotImplementedError
