"""The moves, one a file: adding one touches no other (CONTRIBUTING.md)."""
