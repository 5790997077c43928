"""Tests of `host/support`: how sure an inferred tree is."""
