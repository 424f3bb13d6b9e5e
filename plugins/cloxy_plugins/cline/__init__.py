"""Tasks of Cline, Roo Code and Kilo Code: where they lie, how they are read, what was said."""
