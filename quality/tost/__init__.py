"""Comparison of our trees with SCITE's by two one-sided t-tests."""
