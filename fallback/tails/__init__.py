"""Tails of Poisson-binomial distributions in numpy, the same operations in the same order as on devices."""
