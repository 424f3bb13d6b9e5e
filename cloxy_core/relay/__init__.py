"""`cloxy mcp`: between the standard streams of an editor and the MCP endpoint of the server."""
