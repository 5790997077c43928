"""From device code to a kernel that runs: SPIR-V, machine code, images, and the cache that keeps them."""
