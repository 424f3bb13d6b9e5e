"""Language models: which one answers, how many at a time, and the processes of those here."""
