"""The tests; see the markers in pyproject.toml."""
