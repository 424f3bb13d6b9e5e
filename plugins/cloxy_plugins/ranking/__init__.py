"""Making one ranked list of several channels, and the signals that move it."""
