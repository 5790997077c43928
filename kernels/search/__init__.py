"""Search for the most likely tree: moves that examine all places at once, in slots of their own."""
