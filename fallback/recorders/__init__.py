"""Which states leave a chain while it runs: one recorder a file."""
