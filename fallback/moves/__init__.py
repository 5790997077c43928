"""The moves, one a file."""
