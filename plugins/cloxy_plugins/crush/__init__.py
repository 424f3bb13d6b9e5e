"""Sessions of Crush: where its databases lie, and what was said in them."""
