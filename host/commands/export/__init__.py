"""Export of the kernels: SPIR-V, a manifest, a test vector and a loader in one folder."""
