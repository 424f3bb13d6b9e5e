"""The part of the MCP surface that loads the `mcp` library; imported when a client first asks.

Nothing outside of `endpoint` imports it, and that one by name, when the first request comes.
"""
