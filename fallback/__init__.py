"""Chains and searches in plain numpy, for machines with neither a device nor a compiler."""
