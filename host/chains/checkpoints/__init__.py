"""Checkpoints of long runs: a resumed run is bit for bit the same as one that never stopped."""
