"""Programs that call other people's: run by their Python, never imported."""
