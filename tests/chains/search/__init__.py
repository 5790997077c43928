"""Search for the most likely tree, on every device."""
