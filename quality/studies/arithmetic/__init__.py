"""Arithmetic of the scores: errors and cycles of exponentials and logarithms, and of steps with doublets."""
