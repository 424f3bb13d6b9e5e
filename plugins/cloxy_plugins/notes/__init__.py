"""Notes in Markdown: folders that the user names, read section by section."""
