"""Sessions of Kiro: of the command line in its three forms, and of the editor."""
