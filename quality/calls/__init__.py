"""Comparison of variant calls with a LoFreq program, on random reads or a user's own."""
