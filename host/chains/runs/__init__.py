"""Runs of chains: from a plan and a device to an outcome."""
