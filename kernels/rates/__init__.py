"""Error rates that are learned along a chain: two points on grids, and a move between points."""
