"""The kernels that come with the package: of chains one a form or width, of searches one a stage.

Chains have each kernel twice: as it is, and with the recorder of samples; of learned rates there are those of
false negatives alone. What needs another one, as `syclade scite` with its own recorders, begins in numpy, and
that kernel is compiled beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syclade.host.chains.kernel import chain_kernel
from syclade.host.chains.plan import make_plan
from syclade.host.chains.recorders import Recorder, every
from syclade.host.chains.scores.all_attachments import all_attachments
from syclade.host.compile.kernel import Kernel
from syclade.host.encodings.clade import GENERAL_ROUNDS, GeneralCladeEncoding
from syclade.host.encodings.clade import MADE_FOR as CLADES_MADE_FOR
from syclade.host.encodings.preorder_general import FORMS, MADE_FOR, GeneralPreorderEncoding
from syclade.host.leaf.plan import make_leaf_plan
from syclade.host.model.leaf_problem import make_leaf_problem
from syclade.host.model.learned import learned_rates
from syclade.host.model.problem import make_problem
from syclade.host.model.rates import Rates
from syclade.host.model.simulate import simulate
from syclade.host.search.runner import search_kernel
from syclade.host.search.work import STAGES

__all__ = ["shipped_kernels"]

_RATES = Rates(0.01, 0.2)
_MUTATIONS = 40
_CELLS = {2: 30, 4: 60, 8: 120}
"""As many as ask for such forms; any others would do that do so, too."""

_WIDE_CELLS = 1100


def shipped_kernels() -> dict[str, Kernel]:
    """All of them, by name."""
    kernels = {f"search-{stage}": search_kernel(stage) for stage in STAGES}
    recorders: dict[str, tuple[Recorder, ...]] = {"": (), "-samples": (every(1),)}
    for ending, wanted in recorders.items():
        for form in FORMS:
            name = f"{'wide' if form.subtrees else 'narrow'}-{form.rounds}{ending}"
            cells = _WIDE_CELLS if form.subtrees else _CELLS[form.rounds]
            kernel, shape = _chain_kernel(cells, wanted)
            assert (shape.rounds, shape.subtrees) == (form.rounds, form.subtrees)
            kernels[f"chain-{name}"] = kernel
        for rounds, cells in _CELLS.items():
            kernels[f"sum-{rounds}{ending}"], _ = _chain_kernel(cells, wanted, summed=True)
            kernels[f"learned-{rounds}{ending}"], _ = _chain_kernel(cells, wanted, learned=True)
        for rounds in GENERAL_ROUNDS:
            kernels[f"leaf-{rounds}{ending}"] = _leaf_kernel(rounds, wanted)
    return kernels


def _chain_kernel(
    cells: int, recorders: Sequence[Recorder], *, summed: bool = False, learned: bool = False
) -> tuple[Kernel, Any]:
    """That of mutation trees for so many cells, and the shape of their tables."""
    matrix = simulate(cells, _MUTATIONS, 0.01, 0.2, 0.1, seed=1).matrix
    rates = learned_rates(_RATES, learn_fn=0.2) if learned else None
    problem = make_problem(matrix, _RATES, octaves=summed, learned=rates)
    encoding = GeneralPreorderEncoding(problem, MADE_FOR)
    if summed:
        plan = make_plan(problem, score=all_attachments(problem), recorders=recorders)
    else:
        plan = make_plan(problem, recorders=recorders)
    return chain_kernel(plan, encoding), encoding.shape


def _leaf_kernel(rounds: int, recorders: Sequence[Recorder]) -> Kernel:
    """That of cell-leaf trees, with so many mutations of a panel a lane."""
    mutations = rounds * CLADES_MADE_FOR.lanes
    matrix = simulate(_MUTATIONS, mutations, 0.01, 0.2, 0.1, seed=1).matrix
    problem = make_leaf_problem(matrix, _RATES)
    encoding = GeneralCladeEncoding(problem, CLADES_MADE_FOR)
    assert encoding.constants["rounds"] == rounds
    return chain_kernel(make_leaf_plan(problem, recorders=recorders), encoding)
