"""The parts of a chain in numpy, and the one place where they are composed."""
