"""Cell-leaf trees: a node has the set of cells below it, and every mutation is on its best edge."""
