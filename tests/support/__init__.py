"""What the tests share: backends, small inputs, kernels to be built."""
