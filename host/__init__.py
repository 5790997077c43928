"""Everything around the kernels: devices, files, pipeline, API and command line."""

import syclade

# Python takes any folder named syclade for a package, even one without __init__.py, such as a clone seen from
# its parent folder.
if getattr(syclade, "__file__", None) is None:
    raise ImportError(
        f"Python took the folder {next(iter(syclade.__path__))} for the package syclade, which is only "
        "called so: start Python in another folder, or as python -P"
    )
