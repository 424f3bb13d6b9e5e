"""Services that one plugin may use of another."""
