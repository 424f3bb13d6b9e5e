"""Sessions of OpenCode, from its database and from the files that were before it."""
