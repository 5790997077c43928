"""Script that runs chains with 32-bit control integers, as a target may have, on the target `python`.

It prints where such an integer gets wider, and exits with 1 if that happens anywhere.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import numpy as np

import syclade.kernels.target as target
from syclade.kernels.target import integers, operations


def main() -> int:
    """Run chains of each encoding, and compare them with numpy's."""
    for module in (target, integers, operations):
        module.control = np.int32  # type: ignore[attr-defined]
    # Import kernels only now, because they bind the name at import.
    from syclade.kernels.chain.edits import Proposal
    from syclade.kernels.preorder import changes
    from syclade.kernels.target.traits import Traits
    from tests.support.backends import NUMPY, Backend, Case, assert_equal_chains, run_alone

    wide: Counter[str] = Counter()

    def watch(record: Any, besides: tuple[str, ...] = ()) -> None:
        """Count the fields of a record that receive a wider integer."""
        make = record.__new__

        def new(cls: Any, *values: Any) -> Any:
            for name, value in zip(record._fields, values, strict=True):
                if isinstance(value, np.int64) and name not in besides:
                    wide[f"{record.__name__}.{name}"] += 1
            return make(cls, *values)

        record.__new__ = new

    def watch_operation(operation: Any) -> None:
        function = operation.function

        def watched(*values: Any) -> Any:
            if any(isinstance(value, np.int64) for value in values):
                wide[operation.__name__] += 1
            return function(*values)

        operation.function = watched

    watch(Proposal, besides=("correction",))
    for record in (changes.Moved, changes.Permutation, changes.Growth, changes.Runs, changes.Local):
        watch(record)
    watch(changes.Touched)
    watch(changes.Climbs)
    for name in ("less", "equal", "choose"):
        watch_operation(getattr(target, name))
    case = Case(20, 30, gamma=0.1)
    for encoding, sketches_beyond in (("preorder", 0), ("preorder", 10**6), ("ancestor", 0)):
        backend = Backend("python", encoding, Traits(8, 2, sketches_beyond))
        assert_equal_chains(run_alone(backend, case, 1, 150), run_alone(NUMPY, case, 1, 150))
    for where, count in wide.items():
        print(f"{where}: {count} times")
    return int(bool(wide))


if __name__ == "__main__":
    sys.exit(main())
