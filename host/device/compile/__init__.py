"""Compilation of device code to kernels: SPIR-V, machine code, images, and the cache that stores them."""
