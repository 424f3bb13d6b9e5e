"""The doors: HTTP now, MCP later."""
