"""The conformance kit on what the plugin of an agent brings.

Each class is given `plugin`, a module, and `record`, what of it is tested.
"""

import pytest
from agents.sources import records

from cloxy_core.testing.conformance import (
    ParserConformance,
    RewrittenSourceConformance,
    SourceConformance,
)
from cloxy_core.testing.conformance.base import close


class OfPlugin:
    """A record of a plugin, which is loaded under the name of its package."""

    plugin = None
    record = None

    @pytest.fixture
    def provider(self):
        return self.record

    @pytest.fixture
    def plugins(self):
        return {self.plugin.__name__.split(".")[-2]: self.plugin}


def _created(provider, context, app):
    value = provider.create(context)
    yield value
    close(value, app)


class LogsOfPlugin(OfPlugin, SourceConformance, of_the_kit=True):
    """A source of logs that grow, which lie there when it is made."""

    @pytest.fixture
    def made(self, logs, provider, context, app):
        yield from _created(provider, context, app)


class StoreOfPlugin(OfPlugin, RewrittenSourceConformance, of_the_kit=True):
    """A source of a store, which lies there when it is made; the plugin has one parser."""

    @pytest.fixture
    def made(self, store, provider, context, app):
        yield from _created(provider, context, app)

    @pytest.fixture
    def parser(self, context):
        (record,) = self.plugin.cloxy_parsers()
        return record.create(context)


class ParserOfPlugin(OfPlugin, ParserConformance, of_the_kit=True):
    """The only parser of a plugin."""

    @pytest.fixture
    def provider(self):
        (record,) = self.plugin.cloxy_parsers()
        return record


def sample_of(source, folder):
    """A file with the records of the only item of a source."""
    (item,) = source.discover([])
    path = folder / "records.jsonl"
    path.write_bytes(records(source, item))
    return path
