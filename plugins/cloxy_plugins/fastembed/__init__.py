"""Embedding models and a cross-encoder, run by the library fastembed: an extra."""
