"""Stages for many threads per search: one sum over all columns for all places of one or more decisions."""
