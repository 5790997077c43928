"""Devices: which exist, and which of them can run."""
