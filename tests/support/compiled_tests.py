"""Tests that need numba-dpex: on SYCL devices they run kernels that do not come with the package.

By file; an empty set stands for all tests of the file. `tests/conftest.py` marks them `compiler` where they
are marked `sycl`: the same tests of other devices run everywhere. `marks_of` marks kernels for one size
(`tests/support/backends.py`).
"""

from __future__ import annotations

__all__ = ["needs_compiler"]

_TESTS: dict[str, set[str]] = {
    "backends/test_tiers.py": {
        "test_the_general_kernel_is_as_good_as_the_other_one",
        "test_the_specialised_kernel_takes_over",
    },
    "cli/test_cli_infer.py": {
        "test_an_interruption_leaves_the_best_tree_so_far",
        "test_files",
        "test_the_choice_of_device_is_told",
    },
    "compile/test_current_folder.py": set(),
    "compile/test_image.py": set(),
    "compile/test_native_binary.py": set(),
    "compile/test_program.py": set(),
    "compile/test_shipped.py": set(),
    "compile/test_spirv.py": set(),
    "compile/test_vectorised.py": set(),
    "export/test_export.py": set(),
    "export/test_stages.py": set(),
    "input/test_matrix_array.py": set(),  # dpctl.tensor, and dpnp beside it: of the pinned stack
    "kernels/test_draws.py": set(),
    "leaf/test_leaf_chains.py": {"test_a_chain_moves_between_devices_and_takes_other_rates"},
    "leaf/test_leaf_samples.py": {"test_every_backend_has_the_same_events"},
    "quality/test_bench.py": {"test_measure"},
    "quality/test_bench_suite.py": set(),
    "quality/test_quality_posterior.py": set(),
    "suites/test_additions.py": set(),
    "suites/test_events.py": {"test_nothing_is_lost_however_short_the_ring"},
    "suites/test_learned_rates.py": set(),  # both rates at once
    "suites/test_moves_exhaustive.py": set(),
    "suites/test_traits.py": set(),
    "test_inference.py": {"test_arrays_of_dpctl", "test_arrays_of_dpnp", "test_devices_and_slots_agree"},
}


def needs_compiler(file: str, test: str) -> bool:
    """Whether a test needs the compiler on a SYCL device.

    Args:
        file: path in the folder `tests`, with slashes.
        test: name of the test function.
    """
    tests = _TESTS.get(file)
    return tests is not None and (not tests or test in tests)
