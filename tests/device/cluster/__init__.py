"""Runs that several places share."""
