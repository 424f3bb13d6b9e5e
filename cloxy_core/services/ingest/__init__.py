"""From session logs on disk to the writer: one pass, one file, and the watcher."""
