"""Shares of clones in specimens, and their changes, beside the truth of simulated biopsies."""
