"""Data: matrices of every format, trees, the model of observations, diagnostics of numbers."""
