"""Mutation trees by the maximum score: sizes around limits, extreme settings, large numbers."""

from __future__ import annotations

from syclade.host.chains.plan import Plan
from syclade.host.chains.state import ChainState
from tests.support.backends import Case
from tests.support.same_bits import Chains, Places, on_encodings

SMALL = {
    f"{case.n}x{case.m}": case
    for case in (
        Case(1, 4),
        Case(2, 1),
        Case(2, 16, seed=2),
        Case(3, 4),
        Case(5, 9, seed=3),
        Case(8, 13),
        Case(8, 16, kind="duplicates"),
        Case(14, 16, seed=4),
    )
}
"""Compared after each step, in numpy with the oracle (`test_conformance.py`)."""

LARGE = {
    f"{n}x{m}": Case(n, m)
    for n, m in ((62, 64), (63, 64), (64, 64), (65, 64), (127, 16), (199, 16), (95, 96))
}
"""Sizes around the limits of words and of capacities."""

LARGE_ON_SYCL = ("63x64", "64x64", "65x64", "199x16", "95x96")
"""Those that `make test` runs on SYCL devices, whose drivers take a second or two for each kernel."""

EXTREMES = {
    "greedy": Case(8, 13, gamma=5.0),
    "nearly flat": Case(8, 13, gamma=0.05),
    "prune only": Case(8, 13, moves=(1, 0, 0)),
    "labels only": Case(8, 13, moves=(0, 1, 0)),
    "subtrees only": Case(8, 13, moves=(0, 0, 1)),
    "subtrees of one": Case(1, 3, moves=(0, 0, 1)),
    "missing row and column": Case(8, 13, kind="missing"),
    "nothing observed": Case(8, 13, kind="nothing"),
    "nothing observed, no patience": Case(8, 13, kind="nothing", gamma=1e6),
    "one mutation": Case(1, 16),
    "one cell": Case(8, 1),
    "one value": Case(1, 1),
    "equal columns": Case(8, 40, kind="duplicates"),
    "seed 0": Case(8, 13, seed=0),
    "seed 2^63": Case(8, 13, seed=2**63),
    "greatest seed": Case(8, 13, seed=2**64 - 1),
}

FAR = {
    "step 2^32": (0, 2**32 - 3),
    "chain 2^32": (2**32 - 1, 0),
    "step 2^62": (3, 2**62 - 200),
}
"""Chain, and the step at which it begins."""


def everywhere(case: Case) -> Places:
    """Return all backends.

    `make test` compiles kernels of the sizes of cases on ancestor matrices, and runs three sizes on the
    emulator, which has the CPU device's SPIR-V.
    """
    emulator = (case.n, case.m) in ((1, 4), (8, 13), (14, 16))
    return on_encodings("preorder", "ancestor", emulator=emulator, general=True, built=("ancestor",))


def small(name: str) -> Chains:
    case = SMALL[name]
    return Chains(
        f"max, {name}",
        case.plan,
        everywhere(case),
        seed=case.seed,
        stops=range(1, 151),
        goes_on=name == "14x16",
    )


def extreme(name: str) -> Chains:
    case = EXTREMES[name]
    return Chains(f"max, {name}", case.plan, everywhere(case), seed=case.seed, count=1, stops=(30, 200))


def large(name: str) -> Chains:
    """Return a row of a large tree, whose kernels take longest to compile."""
    usual = name == "64x64"
    places = on_encodings(
        "preorder",
        "ancestor",
        emulator=usual,
        sycl=name in LARGE_ON_SYCL,
        general=True,
        built=("ancestor",) if usual else (),
    )
    return Chains(f"max, large, {name}", LARGE[name].plan, places, count=2, stops=(1, 25, 60))


def far(name: str) -> Chains:
    case, (chain, first) = SMALL["8x13"], FAR[name]

    def start(_plan: Plan, _seed: int, number: int) -> ChainState:
        return case.start(chain ^ number, first)

    stops = (first + 10, first + 40)
    return Chains(f"max, {name}", case.plan, everywhere(case), count=1, stops=stops, start=start)


ROWS = [*map(small, SMALL), *map(extreme, EXTREMES), *map(large, LARGE), *map(far, FAR)]
