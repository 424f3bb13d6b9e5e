"""The two pluggy markers and the version of the contract.

A plugin module marks its functions with `hookimpl` and may state the contract it was
written for in a module constant `CLOXY_API_VERSION`; a plugin that asks for another major
version than `API_VERSION` is reported and skipped.
"""

import pluggy

PROJECT = "cloxy"
API_VERSION = 1

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
