"""Everything around the kernels: devices, files, pipeline, API and command line."""
