"""Recurrent mutations: tests of all mutations, and the tree with a copy beside the tree without."""
