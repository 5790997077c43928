"""Tables of scores and maxima of a slot, and how they follow the tree."""
