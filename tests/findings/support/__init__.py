"""Tests of `host/findings/support`: how sure an inferred tree is."""
