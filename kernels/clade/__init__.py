"""Cell trees: each node has the set of cells below it, and each mutation is on its best edge."""
