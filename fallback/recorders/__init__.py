"""Recorders: select the states that a chain emits while it runs; one per file."""
