"""Trees as parent vectors, and their file formats."""
