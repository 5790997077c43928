"""Comparison of models, with and without doublets, on real matrices."""
