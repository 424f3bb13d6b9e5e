"""What a question says besides its words: times, literals, and a wish for the newest."""
