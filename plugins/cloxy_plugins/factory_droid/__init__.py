"""Sessions of Factory's Droid: where they lie, and what was said in them."""
