"""The MCP surface: what the doors of operations are to a model, at `/mcp` of the server.

Everything here is light but the sub-package `sdk`: the `mcp` library takes a second of computing
and some 50 MB, so `endpoint` loads it when the first MCP request comes, and a server that nobody
asks in that language never does.
"""
