"""A real SLURM of one node, and runs on it."""
