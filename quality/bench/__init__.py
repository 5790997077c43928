"""Speed: steps per second, and the number of chains that an input needs."""
