"""Looking into the stored sessions: a list of them, and one as it was said."""
