"""Batches: many matrices side by side, in parts, and from Python."""
