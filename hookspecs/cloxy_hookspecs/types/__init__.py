"""Values that cross the contract."""
