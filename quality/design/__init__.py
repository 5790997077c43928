"""A model of the circuit: cycles, throughput and resources of a design, and a simulation of its pipeline.

Designs are data (``presets/*.toml``); everything here is arithmetic on them and needs no device.
"""
