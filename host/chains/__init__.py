"""Markov chains: states, starting trees, assignment to slots, and stopping rules."""
