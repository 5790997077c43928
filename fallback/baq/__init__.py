"""Base alignment qualities in numpy: the operations and the order of devices, on many reads at once."""
