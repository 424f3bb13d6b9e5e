"""Sessions of Cursor: the editor's database, transcripts of its agents, chats of its CLI."""
