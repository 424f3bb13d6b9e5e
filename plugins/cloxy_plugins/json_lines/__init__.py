"""Logs of any agent that writes JSON Lines, read as people describe them in a file."""
