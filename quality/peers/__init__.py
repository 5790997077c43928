"""Comparison of our trees, and of our probabilities, with those of other programs, on simulated inputs."""
