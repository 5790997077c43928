"""Stages of a chain on ancestor matrices."""
