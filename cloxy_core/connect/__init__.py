"""Writing our entry into the configuration of editors and agents, and taking it out again."""
