"""Ranks of the titles that Claude Code writes; a higher one wins."""

CUSTOM = 5
GENERATED = 4
AGENT = 3
