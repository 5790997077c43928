"""Check that the chain samples its posterior exactly."""
