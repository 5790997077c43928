"""The oracle, the simulation and the comparison with the reference."""
