"""Packing messages and texts into chunks."""
