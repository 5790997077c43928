"""Tests of the command `syclade infscite`."""
