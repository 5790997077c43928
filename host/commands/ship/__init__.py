"""The kernels that come with the package: which there are, and how they are compiled."""
