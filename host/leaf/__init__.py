"""Cell trees, binary trees whose leaves are the cells: their chains, samples and results."""
