"""Recorders select the states that leave a chain while it runs, one per file; the ring stores these."""
