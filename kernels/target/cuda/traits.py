"""Traits of the target `cuda`, and what its compiler and its engine agree upon. Imports no compiler."""

from syclade.kernels.target.traits import Traits

TRAITS = Traits(lanes=32, panel_rounds=8, sketches_beyond=768)
"""The lanes of a slot are the threads of a warp."""

CAPABILITY = (8, 0)
"""Least compute capability (Ampere, 2020): kernels sum over a warp by one instruction. Drivers translate the
PTX for every later one."""

THREADS = 128
"""Threads of a block: four slots of 32 lanes."""

GRID_THREADS = 512
"""Threads of a block of a grid, in which many blocks work on one slot: one block for each multiprocessor."""

REGISTERS = 128
"""Most registers of a thread, so that 16 warps, or the one block of a grid, share a multiprocessor."""

NEAR_BYTES = 8_400
"""Most bytes of a slot in shared memory: 20 slots leave a third of a multiprocessor's 256 KB to its cache
(compute capability 9.0), and four slots of a block need no special request."""

GRID_NEAR_BYTES = 99_000
"""Most bytes of a block of a grid in shared memory, which every GPU of CAPABILITY or later has."""
