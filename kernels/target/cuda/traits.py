"""Traits of the target `cuda`, and what its compiler and its engine agree upon. Imports no compiler."""

from syclade.kernels.target.traits import Traits

TRAITS = Traits(lanes=32, panel_rounds=8, sketches_beyond=768)
"""The lanes of a slot are the threads of a warp."""

CAPABILITY = (8, 0)
"""Least compute capability (Ampere, 2020): kernels sum over a warp by one instruction. Drivers translate the
PTX for every later one."""

THREADS = 128
"""Threads of a block: four slots of 32 lanes."""
