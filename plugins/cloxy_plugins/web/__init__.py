"""Reading pages of the public web, and finding in them what is asked for."""
