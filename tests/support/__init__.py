"""Support code of the tests: backends, small inputs, kernels to build."""
