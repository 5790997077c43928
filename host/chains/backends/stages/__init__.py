"""The macro-pipeline: stages as separate kernels; each launch works on one chain state."""
