"""Device code: the chain's stages as numba-dpex kernels."""
