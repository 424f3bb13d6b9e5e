"""Sanitizers and extractors that are good for tests alone."""

import os
import time
from dataclasses import replace

from cloxy_hookspecs import Extracted, InputError, Sanitized


def shout(source):
    return Sanitized(replace(source, text=source.text.upper()), {"small": 2, "nothing": 0})


def add_b(source):
    return Sanitized(replace(source, text=source.text + "b"), {"small": 1})


def fail(source, mode=None, selector=None):
    raise LookupError(f"cannot cope with {source.media_type}")


def refuse(source, mode, selector):
    raise InputError("not that one", hint="this one")


def wrong(source, mode=None, selector=None):
    return source.text


def decline(source, mode, selector):
    return None


def plain(source, mode, selector):
    return Extracted(source.text, "title", notes=(f"{mode} {selector} {source.url}",))


def binary(source, mode, selector):
    return Extracted(source.data.hex())


def flagged(source, mode, selector):
    return Extracted("x \ud800", flags=frozenset({"needs_browser", "no such flag"}))


def die(source, mode, selector):
    os._exit(3)


def never(source, mode, selector):
    time.sleep(600)
