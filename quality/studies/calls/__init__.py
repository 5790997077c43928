"""Simulated reads with known variants: the bundled example, and what `call` finds."""
