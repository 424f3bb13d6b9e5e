"""Sessions of the Gemini CLI: where they lie, how they are read, what was said in them."""
