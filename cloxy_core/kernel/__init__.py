"""Finding, loading and wiring plugins."""
