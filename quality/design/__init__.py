"""Model of the circuit: cycles, throughput and resources of a design, and a simulation of its pipeline.

Designs are data (``presets/*.toml``). The model only does arithmetic on them and needs no device.
"""
