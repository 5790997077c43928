"""Moves, one per file: adding one touches no other (CONTRIBUTING.md)."""
