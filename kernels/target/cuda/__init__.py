"""Target `cuda`: numba-cuda, for NVIDIA GPUs. A slot is a warp, and its lanes are the warp's threads.

A kernel with one lane per slot has a thread per slot.
"""
