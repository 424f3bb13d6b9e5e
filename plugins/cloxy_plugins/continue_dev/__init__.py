"""Sessions of Continue: in VS Code, in JetBrains' editors, and of its command line `cn`."""
