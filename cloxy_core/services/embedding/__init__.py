"""Turning passages and questions into vectors."""
