"""Keyword search over passages with SQLite's FTS5."""
