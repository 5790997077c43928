"""Which states leave a chain while it runs: one recorder a file, and the ring that they are put in."""
