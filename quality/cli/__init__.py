"""Commands of the program that belong to its quality side."""
