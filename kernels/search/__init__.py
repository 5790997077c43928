"""Search for the most likely tree: moves that look at all places at once, on slots of their own."""
