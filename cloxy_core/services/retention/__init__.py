"""Setting the rules of projects, and removing what is older than they allow."""
