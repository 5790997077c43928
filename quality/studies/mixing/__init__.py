"""Mixing: how many effective samples the chains for support give per step and per second."""
