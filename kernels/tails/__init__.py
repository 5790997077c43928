"""Tails of Poisson-binomial distributions: one column of a pileup a slot.

The bodies use only IEEE +, −, ×, ÷ and comparisons of float64, in a fixed order, so that every device gives
the same bits; `fallback/tails` does the same operations in numpy. A slot has one lane: the loops over k are
left to the compilers' vectorisers.
"""
