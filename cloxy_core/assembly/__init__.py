"""Puts the services of a server together from what plugins bring to the seats."""
