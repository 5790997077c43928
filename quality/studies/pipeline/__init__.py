"""Exported projects of the pipeline, built and run: their states beside chains, and stages at once."""
