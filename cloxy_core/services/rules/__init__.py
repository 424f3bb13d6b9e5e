"""Rules of projects: what is never remembered, and what is not kept for ever."""
