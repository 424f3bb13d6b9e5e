"""What plugins hand over, one module a topic."""
