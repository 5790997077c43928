"""Chains that several places share: devices of this machine, or workers of an executor."""
