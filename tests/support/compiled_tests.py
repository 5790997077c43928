"""Tests that need numba-dpex: on SYCL devices they run kernels that are not precompiled.

The table maps a file to its tests; an empty set means all tests of the file. `tests/conftest.py` marks these
tests `compiler` if they are marked `sycl`. On other devices the same tests run everywhere.
"""

from __future__ import annotations

__all__ = ["needs_compiler"]

_TESTS: dict[str, set[str]] = {
    "device/compile/test_current_folder.py": set(),
    "device/compile/test_image.py": set(),
    "device/compile/test_program.py": set(),
    "device/compile/test_program_cache.py": set(),
    "device/compile/test_shipped.py": {"test_the_compiler_makes_the_same_bytes"},
    "device/compile/test_spirv.py": set(),
    "device/compile/test_vectorised.py": set(),
    "commands/export/test_export.py": set(),
    "commands/export/test_stages.py": set(),
    "data/input/test_matrix_array.py": set(),  # dpctl.tensor and dpnp of the pinned stack
    "kernels/test_draws.py": set(),
    "suites/test_additions.py": set(),
    "suites/test_events.py": {"test_nothing_is_lost_however_short_the_ring"},
    "suites/test_moves_exhaustive.py": set(),
    "suites/test_traits.py": set(),
    "test_inference.py": {"test_arrays_of_dpctl", "test_arrays_of_dpnp"},
}


def needs_compiler(file: str, test: str) -> bool:
    """Return whether a test needs the compiler on a SYCL device.

    Args:
        file: path within the folder `tests`, with slashes.
        test: name of the test function.
    """
    tests = _TESTS.get(file)
    return tests is not None and (not tests or test in tests)
