"""Comparison of the consensus of samples, and of its thresholds, with the true trees of simulations."""
