"""The product on a few invented sessions, for those who have none yet: `cloxy demo`."""
