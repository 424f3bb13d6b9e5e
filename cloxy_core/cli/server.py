"""The client that commands use, with its warnings shown."""

import os

from cloxy_core.cli import output
from cloxy_core.client import Client
from cloxy_core.client_config import data_directory, resolve_client


def connect() -> Client:
    """A client of the configured server; warnings about the configuration go to standard error.

    Raises:
        ClientError: the configuration cannot be used.
    """
    config = resolve_client(os.environ, data_directory(os.environ))
    for warning in config.warnings:
        output.warn(warning)
    return Client(config)
