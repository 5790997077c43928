"""Output: results, and atomic writes of their files."""
