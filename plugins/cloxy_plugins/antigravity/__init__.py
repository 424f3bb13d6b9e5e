"""Conversations of Antigravity: of the command line `agy`, and of the editor."""
