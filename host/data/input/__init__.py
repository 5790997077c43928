"""Input: matrices and names, from files and arrays."""
