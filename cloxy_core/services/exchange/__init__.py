"""A memory as a file of JSON Lines, to keep, to read and to move to another machine."""
