"""Model of the accelerator of Xu, Rixner and Cox (2023): cycles, limits, traffic, energy, and its host.

Its designs and data sets are data (``designs.toml``, ``datasets.toml``); the model needs no device.
"""
