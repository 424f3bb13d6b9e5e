"""Sessions of the GitHub Copilot CLI, its sub-agents among them."""
