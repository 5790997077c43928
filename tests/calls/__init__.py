"""Tests of variant calls."""
