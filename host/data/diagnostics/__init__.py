"""Convergence diagnostics of sampled numbers and trees: effective sample size, agreement of chains."""
