"""Error rates that are learned along a chain: two places on grids, and a move from place to place."""
