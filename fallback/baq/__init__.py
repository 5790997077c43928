"""Base alignment qualities in numpy: the same operations in the same order as on devices, on many reads at once."""
