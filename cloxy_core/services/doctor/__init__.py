"""Finding and mending what is wrong with a data directory."""
