"""Chats of Aider: where their histories lie, how they are read, what was said in them."""
