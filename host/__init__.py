"""Everything around the kernels: devices, files, pipeline, API and command line."""

import syclade

# To Python any folder of that name is a package, though one without files: such as a clone seen from outside.
if getattr(syclade, "__file__", None) is None:
    raise ImportError(
        f"Python took the folder {next(iter(syclade.__path__))} for the package syclade, which is only "
        "called so: start Python in another folder, or as python -P"
    )
