"""Sessions of Goose: where they lie, and what was said in them."""
