"""Sessions of Qwen Code: where they lie, how they are read, what was said in them."""
