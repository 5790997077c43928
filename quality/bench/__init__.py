"""How fast: steps per second, and how many chains an input needs."""
