"""Search for the most likely tree: what is searched, by whom, in which order, and when it is enough."""
