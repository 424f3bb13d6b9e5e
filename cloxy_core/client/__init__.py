"""The HTTP client of the command line and of editors: standard library only, quick to import."""

from cloxy_core.client.connection import UnreachableError
from cloxy_core.client.json_client import ANSWER_SECONDS, Client

__all__ = ["ANSWER_SECONDS", "Client", "UnreachableError"]
