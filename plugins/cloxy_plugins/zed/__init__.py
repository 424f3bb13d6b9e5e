"""Threads of Zed's own agent, and the text threads that came before them."""
