"""What a source of conversations finds, and what its records say."""

from cloxy_hookspecs.logs.turns import TurnParser

NOW = 1_800_000_000_000


class Context:
    """What a source is made with that asks for the reader of logs alone."""

    def __init__(self, reader):
        self.reader = reader

    def service(self, port):
        del port
        return self.reader


def items(source, under=None):
    """Items of a source, sorted, and the failures to find some."""
    failures = []
    found = sorted(source.discover(failures, under), key=lambda item: item.uri)
    return found, failures


def parser():
    """A parser of records that is at a moment of the future."""
    return TurnParser("/srv/demo/cloxy-data", lambda: NOW)


def records(source, item):
    """Records of an item, as bytes, a line each."""
    return b"".join(line.data + b"\n" for line in source.read(item, 0))


def read(source, item, make_parser=parser):
    """What an item says."""
    return make_parser().parse(item, list(source.read(item, 0)), {})


def only(source):
    """What the only item of a source says; nothing fails."""
    (item,), failures = items(source)
    assert failures == []
    return read(source, item)


def texts(result):
    """Roles and texts."""
    return [(message.role, message.text) for message in result.messages]
