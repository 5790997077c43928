"""Projects for high-level synthesis: the stages of the macro-pipeline in C, from their Python sources."""
