"""Stages of the kernel `blocked`: those of a column unit of Xu, Rixner and Cox (2023), Figures 3 and 6.

While the processing elements work on trial n, the prefetcher reads the probability of trial n + 2, the
logarithm unit works on trial n + 1, and the boundary values of the block are prefetched one iteration before
their use and stored one iteration after they were computed. So a compiler for FPGAs can overlap all of them.
"""
