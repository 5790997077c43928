"""What comes in: matrices and names, from files and arrays."""
