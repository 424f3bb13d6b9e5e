"""Templates for plugin authors."""
