"""Posterior samples of trees while chains run: streaming, counts, convergence diagnostics."""
