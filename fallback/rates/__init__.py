"""Error rates learned along a chain, in numpy."""
