"""Gains by the model of doublets: trees nearer to the truth, calls of doublets, and optima."""
