"""The one record of truth: SQLite, its schema and its single writer."""
