"""The chains: their states, where they start, which one is in which slot, and when they stop."""
