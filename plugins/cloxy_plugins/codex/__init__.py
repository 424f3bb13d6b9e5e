"""Sessions of Codex: where they lie, how they are read, what was said in them."""
