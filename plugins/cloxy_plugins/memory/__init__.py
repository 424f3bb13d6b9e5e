"""Remembering, recalling, forgetting: the operations of memory and their doors."""
