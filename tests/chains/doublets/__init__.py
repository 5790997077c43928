"""Tests of scores with doublets."""
