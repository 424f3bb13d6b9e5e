"""Sessions of GitHub Copilot Chat in VS Code: where they lie and what was said in them."""
