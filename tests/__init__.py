"""Tests; pyproject.toml describes the markers."""
