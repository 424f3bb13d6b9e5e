"""The first-party plugins."""
