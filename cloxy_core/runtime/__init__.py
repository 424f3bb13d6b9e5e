"""Clock, paths and worker threads."""
