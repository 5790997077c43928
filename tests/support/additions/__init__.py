"""Additional scores and moves that use only the package's public entry points."""
