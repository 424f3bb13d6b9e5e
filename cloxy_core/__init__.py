"""The engine: kernel, store, services and surfaces."""

__version__ = "6.0.0.dev0"
