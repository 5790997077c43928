"""Device code of the chains and the search, independent of the compiler (kernels/target)."""
