"""Reading the web: from an address to text, behind the guards, hop by hop."""
