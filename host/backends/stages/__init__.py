"""The macro-pipeline: stages as kernels of their own, launched for one chain state at a time."""
