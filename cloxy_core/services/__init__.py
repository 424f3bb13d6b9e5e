"""What Cloxy does, one module a use case."""
