"""What is left to do after a database of Cloxy 5 or earlier was converted."""
