"""The plugin of the toy index, as an author would write it."""

from cloxy_hookspecs import hookimpl


@hookimpl
def cloxy_indexes():
    """Yield the index."""
    from contract.toy_index import record

    yield record()
