"""Order of the nodes: positions, sizes, blocks, and how an edit changes them."""
