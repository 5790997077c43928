"""The search for the most likely tree, on every device."""
