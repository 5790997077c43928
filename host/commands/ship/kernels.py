"""List of the precompiled kernels, by name, with the targets that each is compiled for.

For SYCL devices, every kernel of the program is precompiled:

- for chains, one kernel with specialisation constants per form or width, score, learned rates and recorders,
  and a general kernel for short chains of the maximum score;
- on ancestor matrices, the fused kernels and the five stages, also of learned rates;
- for searches, one kernel per stage;
- for tails of distributions, three kernels;
- for calling, those of alignment qualities.

Native processors and NVIDIA GPUs have no specialisation constants: for them there are general kernels of
chains. Those of GPUs are for all scores, spaces, learned rates and recorders, since numba-cuda, which would
compile others, is rarely there; a GPU also has the batched stages of searches, and the kernels of tails and
of calling. Processors also have the kernels of searches, also in their sparse forms, of tails, of calling and
of the Gibbs steps of shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from syclade.host.calls.tails.columns import KERNELS, tail_kernel
from syclade.host.calls.windows import alignment_kernels, call_kernels
from syclade.host.chains.backends.stages.described import overlapping_kernel, stage_kernels
from syclade.host.chains.encodings import Encoding
from syclade.host.chains.encodings.bits import CladeEncoding, SpecialisedAncestorEncoding, rounds_of_forms
from syclade.host.chains.encodings.preorder import MORE_PANELS_FORMS, SUM_FORM, PreorderEncoding
from syclade.host.chains.encodings.sums import ParitiesEncoding, SumsEncoding
from syclade.host.chains.moves import GUIDED_MOVES, MOVES, Move
from syclade.host.chains.native_cells import share_kernels
from syclade.host.chains.plan import Plan, chain_kernel, make_leaf_plan, make_plan
from syclade.host.chains.scores.score import ScoreOptions, score_named, space_of
from syclade.host.chains.search.kernel import (
    BATCHED_STAGES,
    SPARSE_STAGES,
    STAGES,
    batched_kernel,
    search_kernel,
)
from syclade.host.chains.state import EQUAL_BEST, NEW_BEST, SUMMED_TREES, Recorder, every
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.problem import Problem, make_leaf_problem, make_problem
from syclade.host.data.model.rate_model import RateModel, make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.precompiled import PROCESSORS, PTX, SPIRV, ship_key
from syclade.host.device.engines.cuda import near_forms
from syclade.kernels.target.cuda.traits import TRAITS as CUDA
from syclade.kernels.target.native.traits import TRAITS as NATIVE
from syclade.kernels.target.sycl_traits import TRAITS
from syclade.kernels.target.traits import Traits

__all__ = ["Shipped", "shipped_kernels"]

_RATES, _ZYGOSITY = Rates(0.01, 0.2), Rates(0.01, 0.1, 0.1, 0.01)
_MUTATIONS = 40


class _Target(NamedTuple):
    """Target of kernels of chains, with example problems; other problems of a form have the same kernel.

    Attributes:
        traits: its traits.
        cells: cells of a problem with fixed rates, by the rounds of its form.
        learned: rounds of the forms for learned rates.
    """

    traits: Traits
    cells: dict[int, int]
    learned: tuple[int, ...]


_SYCL = _Target(TRAITS, {2: 30, 4: 60, 6: 90, 8: 120}, (2, 4, 6, 8))
"""SYCL devices, and processors, whose general kernels have the same traits."""

_GPUS = _Target(CUDA, {2: 60, 4: 120, 8: 250}, (4,))

_MORE_PANELS_CELLS = {5: 140, 6: 170, 7: 200}

_SUM_CELLS = 70
"""Cells of an example problem of SUM_FORM."""

_FEW_CELLS, _WIDE_CELLS = 30, 1100

_SAMPLES = (every(1),)
_RECORDERS: dict[str, tuple[Recorder, ...]] = {
    "": (),
    "-samples": _SAMPLES,
    "-optimal": (NEW_BEST, EQUAL_BEST, *_SAMPLES),
}
"""Recorders of chains, by the suffix of the kernel's name; `-optimal` are those of `syclade scite`."""

_OF_INFER = {name: recorders for name, recorders in _RECORDERS.items() if name != "-optimal"}

_OF_SUPPORT = {"-samples": _SAMPLES}

_LEARNED = {"learned-fn": {"learn_fn": 0.2}, "learned-fp": {"learn_fp": 0.1}}
_RATE_OF_DOUBLETS = 0.1
_LEARNED_PAIRS = {"doublets": _RATE_OF_DOUBLETS, "learn_doublets": 0.1}
_LEARNED["learned-both"] = _LEARNED["learned-fn"] | _LEARNED["learned-fp"]

_EVERYWHERE = (SPIRV, *PROCESSORS)


@dataclass(frozen=True)
class Shipped:
    """Precompiled kernel.

    Attributes:
        kernel: the kernel.
        made_for: SPIRV, PTX, or names of PROCESSORS.
        near: for PTX, names of the arguments that a launch keeps in shared memory.
    """

    kernel: Kernel
    made_for: tuple[str, ...]
    near: tuple[str, ...] = ()

    def key(self, made_for: str) -> str:
        """Return the key for a target."""
        return ship_key(self.kernel, made_for, self.near)


def shipped_kernels() -> dict[str, Shipped]:
    """Return all precompiled kernels, by name."""
    kernels = {f"search-{stage}": Shipped(search_kernel(stage), _EVERYWHERE) for stage in STAGES}
    for stage in SPARSE_STAGES:
        sparse = search_kernel(stage, sparse=True)
        kernels[f"search-{stage}-sparse"] = Shipped(sparse, tuple(PROCESSORS))
    for group in (
        _batched_searches(),
        _maximum_chains(_SYCL),
        _more_panels_chains(),
        _general_sum_chains(),
        _sum_chains(_SYCL),
        _doublet_chains(_SYCL),
        _recurrent_chains(_SYCL),
        _leaf_chains(_SYCL),
        _maximum_chains(_GPUS),
        _sum_chains(_GPUS),
        _doublet_chains(_GPUS),
        _recurrent_chains(_GPUS),
        _leaf_chains(_GPUS),
        _ancestor_kernels(),
        _ancestor_stages(),
        _overlapping(),
        _tails(),
        _calls(),
        _shares(),
    ):
        kernels |= dict(group)
    return kernels


def _batched_searches() -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of searches on NVIDIA GPUs, with all hot arguments in shared memory or none."""
    for stage in BATCHED_STAGES:
        kernel = batched_kernel(stage)
        hot = tuple(one.name for one in kernel.arguments if one.hot)
        yield f"search-{stage}-batched", Shipped(kernel, (PTX,))
        if hot:
            yield f"search-{stage}-batched-near", Shipped(kernel, (PTX,), hot)


def _maximum_chains(target: _Target) -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of chains of mutation trees of the maximum score with fixed rates."""
    forms = {f"narrow-{rounds}": cells for rounds, cells in target.cells.items()}
    for width, cells in {**forms, f"wide-{target.traits.panel_rounds}": _WIDE_CELLS}.items():
        title = f"chain-{width}"
        every_one = tuple(_RECORDERS)
        yield from _variants(
            title, _problem(cells), _RECORDERS, target=target, native=every_one, general=True
        )


def _more_panels_chains() -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of MORE_PANELS_FORMS."""
    for form in MORE_PANELS_FORMS:
        problem = _problem(_MORE_PANELS_CELLS[form.rounds])
        yield from _variants(f"chain-panels-{form.rounds}", problem, _RECORDERS, native=())


def _sum_chains(target: _Target) -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of chains of mutation trees of the sum score, and of those with learned rates."""
    for rounds, cells in target.cells.items():
        summed = _problem(cells, octaves=True)
        for title, moves, recorders in (
            (f"sum-{rounds}", MOVES, _RECORDERS),
            (f"sum-{rounds}-guided", GUIDED_MOVES, _OF_SUPPORT),
        ):
            every_one = tuple(recorders)
            yield from _variants(
                title, summed, recorders, moves, target=target, score="sum", native=every_one
            )
        for name, learned in _LEARNED.items() if rounds in target.learned else ():
            recorders = _RECORDERS if name == "learned-fn" else _OF_INFER
            native = tuple(recorders) if name == "learned-fn" else ()
            for ending, rates in {"": _RATES, "-zygosity": _ZYGOSITY}.items():
                own = native if not ending else ()
                for score, prefix in {"max": "", "sum": "sum-"}.items():
                    problem = _problem(cells, rates, learned, octaves=score == "sum")
                    title = f"{prefix}{name}-{rounds}{ending}"
                    yield from _variants(title, problem, recorders, target=target, score=score, native=own)


def _general_sum_chains() -> Iterator[tuple[str, Shipped]]:
    """Yield the general kernels of SUM_FORM, for processors only."""
    summed = _problem(_SUM_CELLS, octaves=True)
    for name, moves, recorders in (("", MOVES, _RECORDERS), ("-guided", GUIDED_MOVES, _OF_SUPPORT)):
        title = f"sum-{SUM_FORM.rounds}{name}"
        for kernel, shipped in _variants(
            title, summed, recorders, moves, score="sum", native=tuple(recorders)
        ):
            if kernel.endswith("-general"):
                yield kernel, shipped


def _doublet_chains(target: _Target) -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of chains with doublets: one for each set of learned rates, for all sizes."""
    yield from _doublet_variants("doublets", {}, target, native=True, general=True)
    for name, learned in {"learned": {}, **_LEARNED}.items():
        pairs = learned | _LEARNED_PAIRS
        yield from _doublet_variants(f"doublets-{name}-pairs", pairs, target, native=name != "learned-fp")
        if learned:
            yield from _doublet_variants(f"doublets-{name}", learned, target, native=name == "learned-fn")


def _doublet_variants(
    name: str, learned: Mapping[str, float], target: _Target, *, native: bool, general: bool = False
) -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of chains with doublets for each set of recorders."""
    problem = _problem(_FEW_CELLS, learned=learned, octaves=True)
    encoding = SumsEncoding(problem, target.traits)
    for ending, recorders in _OF_INFER.items():
        score = score_named("max", problem, doublets=_RATE_OF_DOUBLETS)
        plan = make_plan(problem, score=score, recorders=recorders, space=SUMMED_TREES)
        yield from _forms(f"{name}{ending}", plan, encoding, native=native, general=general and not recorders)


def _recurrent_chains(target: _Target) -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of chains with a recurrent mutation, for all sizes: with fixed and learned rates."""
    for doublets, (name, learned) in product(
        (None, _RATE_OF_DOUBLETS), {"": {}, "-learned": _LEARNED["learned-fn"]}.items()
    ):
        options = ScoreOptions(doublets=doublets, recurrent=0)
        problem = _problem(_FEW_CELLS, learned=learned, octaves=options.octaves)
        encoding = ParitiesEncoding(problem, target.traits)
        for ending, recorders in _OF_INFER.items():
            plan = make_plan(
                problem,
                score=score_named(options.name, problem, doublets, options.recurrent),
                recorders=recorders,
                space=space_of(options),
            )
            title = f"recurrent-{'max' if doublets is None else 'doublets'}{name}{ending}"
            yield from _forms(title, plan, encoding, native=True, general=not recorders and not learned)


def _leaf_chains(target: _Target) -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of chains of cell trees."""
    with_learned = rounds_of_forms(target.traits, learns=True)
    for rounds in rounds_of_forms(target.traits, learns=False):
        mutations = rounds * target.traits.lanes
        yield from _leaf_variants(f"leaf-{rounds}", mutations, target, native=True)
        for name, learned in _LEARNED.items() if rounds in with_learned else ():
            for ending, rates in {"": _RATES, "-zygosity": _ZYGOSITY}.items():
                title, native = f"leaf-{name}-{rounds}{ending}", name == "learned-fn" and not ending
                yield from _leaf_variants(title, mutations, target, rates, learned, native=native)


def _leaf_variants(
    name: str,
    mutations: int,
    target: _Target,
    rates: Rates = _RATES,
    learned: Mapping[str, float] | None = None,
    *,
    native: bool,
) -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of cell trees for each set of recorders."""
    matrix = _matrix(_MUTATIONS, mutations, rates)
    problem = make_leaf_problem(matrix, rates, model=_model(rates, learned))
    encoding = CladeEncoding(problem, target.traits)
    for ending, recorders in _OF_INFER.items():
        plan = make_leaf_plan(problem, recorders=recorders)
        yield from _forms(f"{name}{ending}", plan, encoding, native=native, general=False)


def _ancestor_kernels() -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of chains on ancestor matrices: fused kernels, and the stages."""
    for score in ("max", "sum"):
        problem = _problem(_FEW_CELLS, octaves=score == "sum")
        encoding = SpecialisedAncestorEncoding(problem, TRAITS)
        for ending, recorders in _OF_INFER.items():
            plan = make_plan(problem, score=score_named(score, problem), recorders=recorders)
            yield f"ancestor-{score}{ending}", Shipped(chain_kernel(plan, encoding), (SPIRV,))
        if score == "sum":
            plan = make_plan(
                problem,
                moves=GUIDED_MOVES,
                move_probabilities=[1.0] * len(GUIDED_MOVES),
                score=score_named(score, problem),
                recorders=_SAMPLES,
            )
            yield "ancestor-sum-guided-samples", Shipped(chain_kernel(plan, encoding), (SPIRV,))
        for name, learned in _LEARNED.items():
            problem = _problem(_FEW_CELLS, learned=learned, octaves=score == "sum")
            encoding = SpecialisedAncestorEncoding(problem, TRAITS)
            for ending, recorders in _OF_INFER.items():
                plan = make_plan(problem, score=score_named(score, problem), recorders=recorders)
                yield f"ancestor-{score}-{name}{ending}", Shipped(chain_kernel(plan, encoding), (SPIRV,))


def _ancestor_stages() -> Iterator[tuple[str, Shipped]]:
    """Yield the stages on ancestor matrices, each that several kinds of chains share once."""
    there: list[Kernel] = []
    for score, (name, learned) in product(("max", "sum"), {"": {}, **_LEARNED}.items()):
        problem = _problem(_FEW_CELLS, learned=learned, octaves=score == "sum")
        encoding = SpecialisedAncestorEncoding(problem, TRAITS)
        for ending, recorders in _OF_INFER.items():
            plan = make_plan(problem, score=score_named(score, problem), recorders=recorders)
            for stage in stage_kernels(plan, encoding):
                kernel = replace(stage.kernel, specialisation=(), size="")
                if kernel not in there:
                    there.append(kernel)
                    own = score if stage.name == "reduction" else ""
                    title = "-".join(word for word in (stage.name, own, name) if word) + ending
                    yield f"ancestor-stage-{title}", Shipped(stage.kernel, (SPIRV,))


def _overlapping() -> Iterator[tuple[str, Shipped]]:
    """Yield the kernel of overlapping stages, for the maximum score with fixed rates only."""
    problem = _problem(_FEW_CELLS)
    encoding = SpecialisedAncestorEncoding(problem, TRAITS)
    yield "ancestor-overlapping", Shipped(overlapping_kernel(make_plan(problem), encoding), (SPIRV,))


def _tails() -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of tails; machine code has its own number of lanes."""
    for name in KERNELS:
        yield f"tails-{name}", Shipped(tail_kernel(name), (SPIRV, PTX))
        yield f"tails-{name}-native", Shipped(tail_kernel(name, NATIVE.lanes), tuple(PROCESSORS))


def _calls() -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of calling; devices have those of alignment qualities."""
    for name, kernel in call_kernels().items():
        yield f"calls-{name}", Shipped(kernel, tuple(PROCESSORS))
    for name, kernel in alignment_kernels("cpu").items():
        yield f"calls-{name}-device", Shipped(kernel, (SPIRV, PTX))


def _shares() -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels of Gibbs steps, which the host does itself whatever the device of the chains is."""
    for name, kernel in share_kernels().items():
        yield f"shares-{name}", Shipped(kernel, tuple(PROCESSORS))


def _variants(
    name: str,
    problem: Problem,
    recorders: Mapping[str, Sequence[Recorder]],
    moves: Sequence[Move] = MOVES,
    *,
    target: _Target = _SYCL,
    score: str = "max",
    native: Sequence[str],
    general: bool = False,
) -> Iterator[tuple[str, Shipped]]:
    """Yield the kernels for each set of recorders; for processors, only those with the suffixes `native`."""
    encoding = PreorderEncoding(problem, target.traits)
    for ending, wanted in recorders.items():
        plan = make_plan(
            problem,
            moves=moves,
            move_probabilities=[1.0] * len(moves),
            score=score_named(score, problem),
            recorders=wanted,
        )
        short = general and not wanted
        yield from _forms(f"{name}{ending}", plan, encoding, native=ending in native, general=short)


def _forms(
    name: str, plan: Plan, encoding: Encoding, *, native: bool, general: bool
) -> Iterator[tuple[str, Shipped]]:
    """Yield the specialised kernel of a plan for SYCL devices, and the general kernel if it is requested.

    For GPUs, yield the general kernel: with few arguments in shared memory, and with all hot ones.
    """
    specialised, read = encoding.specialised(), encoding.general()
    assert read is not None, name
    if encoding.traits == CUDA:
        kernel = chain_kernel(plan, read)
        hot, few = (tuple(one.name for one in form) for form in near_forms(kernel))
        yield f"{name}-cuda", Shipped(kernel, (PTX,), few)
        if not plan.problem.learns:  # those of learned rates are many, and have one form
            yield f"{name}-cuda-near", Shipped(kernel, (PTX,), hot)
        return
    assert specialised is not None, name
    yield name, Shipped(chain_kernel(plan, specialised), (SPIRV,))
    made_for = (*([SPIRV] if general else []), *(PROCESSORS if native else []))
    if made_for:
        yield f"{name}-general", Shipped(chain_kernel(plan, read), made_for)


def _problem(
    cells: int, rates: Rates = _RATES, learned: Mapping[str, float] | None = None, *, octaves: bool = False
) -> Problem:
    """Return a simulated problem with this number of cells."""
    matrix = _matrix(cells, _MUTATIONS, rates)
    return make_problem(matrix, rates, octaves=octaves, model=_model(rates, learned))


def _model(rates: Rates, learned: Mapping[str, float] | None) -> RateModel:
    """Return learned rates on grids of few points; kernels do not depend on the grids."""
    model = make_rate_model(rates, **(learned or {}))
    return RateModel(rates, *(None if grid is None else replace(grid, points=16) for grid in model.grids))


def _matrix(cells: int, mutations: int, rates: Rates) -> Matrix:
    return simulate(cells, mutations, missing=0.1, seed=1, **rates.to_dict()).matrix
