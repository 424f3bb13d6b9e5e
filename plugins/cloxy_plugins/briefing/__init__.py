"""What an agent is told of a project when a session begins."""
