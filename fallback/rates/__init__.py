"""Error rates that are learned along a chain, in numpy."""
