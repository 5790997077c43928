"""The moves, one per file."""
