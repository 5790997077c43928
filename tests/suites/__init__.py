"""Suites that every way to run a chain must pass."""
