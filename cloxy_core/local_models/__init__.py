"""Models on this machine: what fits, where it comes from, whether it is whole, what was chosen."""
