"""Projects for high-level synthesis."""
