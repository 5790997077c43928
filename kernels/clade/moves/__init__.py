"""The moves on cell-leaf trees, one a file."""
