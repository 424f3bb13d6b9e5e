"""Backups that a person makes, and putting one back."""
