"""Sparse forms of search stages: they pass over columns and moves that cannot change the answer."""
