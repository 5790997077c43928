"""Batches: many inferences as a list of tasks, run side by side, each with a folder and a line of a table."""
