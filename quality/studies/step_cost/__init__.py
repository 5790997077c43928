"""Processor time of a step of the sum score, over numbers of cells and of mutations."""
