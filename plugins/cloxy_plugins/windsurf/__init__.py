"""Windsurf: transcripts that it writes in the clear, and how many conversations it encrypts."""
