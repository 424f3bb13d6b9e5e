"""Ports and who implements them: how parts ask for one another without knowing each other."""

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar, cast

from cloxy_hookspecs.errors import DuplicateNameError, ServiceMissingError

T = TypeVar("T")


class Services:
    """Implementations by port, each made when it is first asked for."""

    def __init__(self) -> None:
        self._factories: dict[type[Any], Callable[[], Any]] = {}
        self._made: dict[type[Any], Any] = {}
        self._in_progress: list[type[Any]] = []
        # One lock for all: of two threads that ask for the same port, one makes it.
        self._lock = RLock()

    def offer(self, port: type[T], create: Callable[[], T]) -> None:
        """Say how a port is implemented.

        Args:
            port: the protocol class.
            create: makes the implementation; may itself ask for other ports.

        Raises:
            DuplicateNameError: the port is taken.
        """
        with self._lock:
            if port in self._factories:
                raise DuplicateNameError(f"the port {port.__name__} has an implementation already")
            self._factories[port] = create

    def has(self, port: type[Any]) -> bool:
        """Whether anybody implements the port; makes nothing."""
        with self._lock:
            return port in self._factories

    def service(self, port: type[T]) -> T:
        """The implementation of a port, the same one every time.

        Raises:
            ServiceMissingError: nobody implements it, or its making asks for itself. Whatever
                its making raises is raised, and it is made again at the next request.
        """
        with self._lock:
            if port in self._made:
                return cast("T", self._made[port])
            if port not in self._factories:
                raise ServiceMissingError(
                    f"nothing enabled provides {port.__name__}",
                    hint="run cloxy plugins list to see what is switched off or has failed",
                )
            self._refuse_circle(port)
            self._in_progress.append(port)
            try:
                implementation = self._factories[port]()
            finally:
                self._in_progress.pop()
            self._made[port] = implementation
            return cast("T", implementation)

    def maybe(self, port: type[T]) -> T | None:
        """The implementation of a port, or None when nobody implements it."""
        return self.service(port) if self.has(port) else None

    def _refuse_circle(self, port: type[Any]) -> None:
        if port in self._in_progress:
            start = self._in_progress.index(port)
            circle = [*self._in_progress[start:], port]
            names = " needs ".join(each.__name__ for each in circle)
            raise ServiceMissingError(f"a circle of services: {names}")
