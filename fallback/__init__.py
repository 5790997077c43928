"""Chains and searches in numpy, plain: for where there is neither device nor compiler."""
