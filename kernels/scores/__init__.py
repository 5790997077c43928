"""Scores: the contribution of a cell, one per file. Slow definitions are in host/chains/scores."""
