"""Threads of Amp that are files: where they lie, how they are read, what was said in them."""
