"""Scaling of chains with doublets over cores: measured, modelled, and beside published tables."""
