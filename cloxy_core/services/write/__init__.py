"""The way into the store: transcripts, notes, forgetting."""
