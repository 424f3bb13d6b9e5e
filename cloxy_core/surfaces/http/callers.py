"""What the boundary found out about whoever sent a request; without a boundary nobody is known."""

from fastapi import Request


def is_authenticated(request: Request) -> bool:
    """Whether the caller may see data."""
    return _known(request, "authenticated")


def is_owner(request: Request) -> bool:
    """Whether the caller proved to be the owner of the data."""
    return _known(request, "owner")


def _known(request: Request, name: str) -> bool:
    return request.scope.get("state", {}).get(name) is True
