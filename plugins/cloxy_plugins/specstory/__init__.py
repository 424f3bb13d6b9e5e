"""Conversations that SpecStory saved as Markdown: where they lie, and what was said in them."""
