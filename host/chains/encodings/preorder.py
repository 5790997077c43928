"""Preorder intervals: a subtree is an interval, and a proposal costs O(cells) (kernels/preorder).

Precompiled kernels serve many sizes: their encodings read sizes from an argument, or from specialisation
constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.chains.encodings import HAVE_GENERAL, MADE_FOR, Encoding, ReadsSizes, round_up
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.trees.tree import preorder
from syclade.host.ground.values import Array
from syclade.kernels.arguments import Argument
from syclade.kernels.preorder.arguments import LEARNED, NARROW, WIDE
from syclade.kernels.preorder.form import BROAD, Form
from syclade.kernels.preorder.screened.arguments import SCREENED
from syclade.kernels.preorder.shape import Shape, count_panels, padded_cells
from syclade.kernels.preorder.sizes import ANY_PROBLEM, SIZES, make_sizes, make_variant
from syclade.kernels.preorder.tables.layout import LARGEST_TABLES, make_layout
from syclade.kernels.target.cuda.traits import TRAITS as CUDA
from syclade.kernels.target.traits import Traits

__all__ = [
    "CUDA_FORMS",
    "FORMS",
    "MORE_PANELS_FORMS",
    "SUM_FORM",
    "GeneralPreorderEncoding",
    "PreorderEncoding",
    "SpecialisedPreorderEncoding",
    "constants_of",
    "is_wide",
    "like_columns_together",
    "shape_of",
]


class PreorderEncoding(Encoding):
    """Preorder of the nodes, with each node's parent, position and subtree size."""

    name = "preorder"
    has_shares = True
    group = "sub-group"

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        self.shape = self.shape_for(problem, traits)
        self.wide = is_wide(problem, self.shape)
        tables = _tables_for(problem, self.wide)
        self.device, self.arguments = tables.device, tables.arguments
        wide_sums = problem.learns or self._most_of_a_lane(problem.rates) >= 2**31
        self.variant = make_variant(self.shape, int(problem.multiplicity.max() > 1), int(wide_sums))
        self.constants = self.shape._asdict() | {
            "classes": problem.classes,
            "weighted": int(self.variant.weighted),
            "wide": int(self.variant.wide),
        }
        del self.constants["subtrees"]

    @property
    def sizes(self) -> Mapping[str, int]:
        """See `Encoding.sizes`."""
        layout = make_layout(self.shape)
        tables = {"rows": layout.rows, "sketched": layout.sketched, "classes": self.problem.classes}
        return self.shape._asdict() | tables

    def specialised(self) -> Encoding | None:
        """See `Encoding.specialised`."""
        return self._of_form(SpecialisedPreorderEncoding)

    def general(self) -> Encoding | None:
        """See `Encoding.general`."""
        return self._of_form(GeneralPreorderEncoding)

    def _of_form(self, kind: type[PreorderEncoding]) -> PreorderEncoding | None:
        return None if kind.can_run(self.problem, self.traits) else kind(self.problem, self.traits)

    @classmethod
    def shape_for(cls, problem: Problem, traits: Traits) -> Shape:
        """Return the sizes of the tables, no larger than necessary."""
        return shape_of(problem, traits)

    @classmethod
    def can_run(cls, problem: Problem, traits: Traits) -> str | None:
        """See `Encoding.can_run`."""
        shape = cls.shape_for(problem, traits)
        numbers = make_layout(shape).rows * shape.cells
        if numbers <= LARGEST_TABLES:
            return None
        return (
            f"{problem.mutations} mutations and {problem.columns} distinct columns need "
            f"{numbers / 2**28:.1f} GiB of tables a chain"
        )

    def can_score(self, rates: SlotRates) -> str | None:
        """See `Encoding.can_score`."""
        narrow_sums = not self.wide and not self.variant.wide
        if narrow_sums and self._most_of_a_lane(rates) >= 2**31:
            return "a lane's sum of scores could reach 2^31, which the kernel was not made for"
        return super().can_score(rates)

    def problem_arrays(self) -> dict[str, Array]:
        """See `Encoding.problem_arrays`."""
        problem, width = self.problem, self.problem.columns
        observed = np.full((self.shape.nodes, self.shape.cells), problem.classes - 1, dtype=np.uint8)
        columns = like_columns_together(problem.weight_rows() > 0) if self.wide else np.arange(width)
        observed[: problem.mutations, :width] = problem.observed[:, columns]
        multiplicity = np.zeros(self.shape.cells, dtype=np.int64)
        multiplicity[:width] = problem.multiplicity[columns]
        return {"observed": observed, "multiplicity": multiplicity}

    def encode(self, parents: NDArray[np.int32]) -> dict[str, ArrayLike]:
        """Return parent, order, position and size, int32, shape (nodes,) each, and tables_made, 0.

        Padding entries hold their own index, and 0 in `size`.
        """
        count, capacity = self.problem.nodes, self.shape.nodes
        own = np.arange(capacity, dtype=np.int32)
        parent, order, position = own.copy(), own.copy(), own.copy()
        parent[:count] = parents
        order[:count] = preorder(parents)
        position[order] = own
        above, sizes = parent.tolist(), [1] * count + [0] * (capacity - count)
        for node in order[1:count][::-1].tolist():
            sizes[above[node]] += sizes[node]
        size = np.array(sizes, dtype=np.int32)
        return {"parent": parent, "order": order, "position": position, "size": size, "tables_made": 0}

    def decode(self, arrays: Mapping[str, Array]) -> NDArray[np.int32]:
        """Return the parents, int32, shape (n + 1,)."""
        return arrays["parent"][: self.problem.nodes].astype(np.int32)

    def _most_of_a_lane(self, rates: SlotRates) -> int:
        """Return an upper bound of the sum of scores over the cells of one lane."""
        best = self.problem.most_positive(rates) * self.problem.multiplicity
        by_lane = np.zeros(self.traits.lanes, dtype=np.int64)
        np.add.at(by_lane, np.arange(len(best)) % self.traits.lanes, best)
        return int(by_lane.max())


class _Tables(NamedTuple):
    """Tables of a kernel; see `Encoding`."""

    device: str
    arguments: tuple[Argument, ...]


_NARROW = _Tables("syclade.kernels.preorder.narrow.encoding:ENCODING", NARROW)
_WIDE = _Tables("syclade.kernels.preorder.wide.encoding:ENCODING", WIDE)
_LEARNED = _Tables("syclade.kernels.preorder.narrow.learned:ENCODING", LEARNED)
_SCREENED = _Tables("syclade.kernels.preorder.screened.encoding:ENCODING", SCREENED)


def _tables_for(problem: Problem, wide: bool) -> _Tables:
    """Return the tables for a problem; scores in octaves are those of all attachments."""
    if problem.learns:
        return _LEARNED
    if problem.octaves:
        return _SCREENED
    return _WIDE if wide else _NARROW


def shape_of(problem: Problem, traits: Traits, panel_rounds: int | None = None) -> Shape:
    """Return the sizes of a problem's tables.

    Args:
        problem: the problem.
        traits: traits of the target.
        panel_rounds: cells of each panel per lane; by default the fewest that need no additional panels.
    """
    lanes = traits.lanes
    if panel_rounds is None:
        panels = count_panels(problem.columns, lanes, traits.panel_rounds)
        cells = padded_cells(problem.columns, lanes, traits.panel_rounds)
    else:
        panels = count_panels(problem.columns, lanes, panel_rounds)
        cells = panels * panel_rounds * lanes
    # Sketches narrow down which scores have changed.
    wide = cells > traits.sketches_beyond and not problem.reads_all_scores
    with_shares = _tables_for(problem, wide) == _SCREENED  # which have scores without shares in these rows
    return Shape(
        nodes=round_up(problem.nodes + 1, lanes),
        labels=round_up(problem.nodes, lanes),
        cells=cells,
        block=_block_for(problem.nodes, wide),
        lanes=lanes,
        panels=panels,
        subtrees=int(wide or with_shares),
    )


def is_wide(problem: Problem, shape: Shape) -> bool:
    """Return whether a problem's tables of this shape are wide: they have sketches."""
    return bool(shape.subtrees) and not problem.reads_all_scores


def _block_for(nodes: int, sketches: bool) -> int:
    """Return the positions per block, about the square root of their number: the fastest in measurements."""
    if sketches:
        return 16 if nodes <= 1000 else 32
    return 8 if nodes <= 112 else 16 if nodes <= 400 else 32


MOST_CLUSTERED = 4096

"""Maximum number of columns to cluster, as memory grows with its square.

Further columns are placed beside the most similar clustered one.
"""


def like_columns_together(observed_ones: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return a permutation of the columns that places those with common mutations next to each other.

    The order is that of the leaves of Ward's hierarchical clustering, with the cosine of the observed
    mutations as similarity.

    Args:
        observed_ones: bool, shape (mutations, columns): True where the observation supports the mutation.

    Returns:
        int64, shape (columns,): the column at each position.
    """
    from scipy.cluster.hierarchy import leaves_list, ward
    from scipy.spatial.distance import squareform

    observed = observed_ones.T.astype(np.float32)
    observed /= np.maximum(np.linalg.norm(observed, axis=1, keepdims=True), 1)
    width = len(observed)
    if width < 3:
        return np.arange(width)
    chosen = np.unique(np.linspace(0, width - 1, min(width, MOST_CLUSTERED)).astype(np.int64))
    distances = 1 - observed[chosen] @ observed[chosen].T
    np.fill_diagonal(distances, 0)
    distances = np.maximum(distances, 0)
    leaves = leaves_list(ward(squareform((distances + distances.T) / 2, checks=False)))
    place = np.empty(len(chosen), dtype=np.int64)
    place[leaves] = np.arange(len(chosen))
    parts = np.array_split(observed, -(-width // MOST_CLUSTERED))  # products are no larger than the one above
    near = place[np.concatenate([(part @ observed[chosen].T).argmax(axis=1) for part in parts])]
    near[chosen] = place
    return np.argsort(near, kind="stable")


_MOST = MADE_FOR.panel_rounds

_ONE_PANEL_ROUNDS, _MORE_PANELS_ROUNDS = (2, 4, 6, _MOST), (5, 6, 7)
"""Cells of a panel per lane, in tables of one panel and of several; several panels may have _MOST, too."""

_SUM_ROUNDS = 5
"""Another number for general kernels of sum scores with fixed rates, in one panel or several."""

_CUDA_ROUNDS, _CUDA_PANELS_ROUNDS, _LEARNED_CUDA_ROUNDS = (2, 4, 8), (8, 4), (4,)
"""Those of general kernels of warps; with learned rates, one number serves all sizes, in several panels."""

_PAGE = 1024
"""Cells of a row of 4 KiB. Rows of as many or a multiple share few places of the fast caches, so steps take 3
to 5 % longer (1000 x 500)."""

FORMS = (
    *(Form(MADE_FOR.lanes, one, 0, int(one * MADE_FOR.lanes >= BROAD)) for one in _ONE_PANEL_ROUNDS),
    Form(MADE_FOR.lanes, _MOST, 1, 1),
)
"""Forms that have kernels for all scores."""

MORE_PANELS_FORMS = tuple(Form(MADE_FOR.lanes, one, 0, 1) for one in _MORE_PANELS_ROUNDS)

"""Forms that have only specialised kernels of the maximum score with fixed rates.

They need less padding for several panels.
"""

SUM_FORM = Form(MADE_FOR.lanes, _SUM_ROUNDS, 0, 1)

"""Form that has general kernels of the sum score with fixed rates.

A step of the sum score takes several times as long per column as one of the maximum, so padding costs more.
"""


CUDA_FORMS = (
    *(Form(CUDA.lanes, one, 0, int(one * CUDA.lanes >= BROAD)) for one in _CUDA_ROUNDS),
    Form(CUDA.lanes, CUDA.panel_rounds, 1, 1),
)
"""Forms that have general kernels on NVIDIA GPUs."""


class _Rounds(NamedTuple):
    """Rounds of the forms that have kernels for a problem, for tables of one panel and of several."""

    one_panel: tuple[int, ...]
    panels: tuple[int, ...]


class _FormEncoding(PreorderEncoding):
    """Preorder intervals with rows padded to the width that one of a few forms has."""

    _kernel: ClassVar[str]
    _targets: ClassVar[tuple[Traits, ...]]

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        form = _form_for(self.shape, wide=self.wide)
        self.device = self.device.replace(":ENCODING", f":{self._kernel}")
        self.constants = constants_of(form)
        if problem.learns:  # the weights of the classes stay in registers
            self.constants["classes"] = problem.classes

    @classmethod
    def can_run(cls, problem: Problem, traits: Traits) -> str | None:
        """See `Encoding.can_run`."""
        if traits not in cls._targets:
            return "the kernels for many sizes are made for other targets"
        return super().can_run(problem, traits)

    @classmethod
    def shape_for(cls, problem: Problem, traits: Traits) -> Shape:
        """Return the sizes of the tables, with the rounds of the form that needs the least padding."""
        needed, rounds = -(-problem.columns // traits.lanes), cls._rounds(problem, traits)
        enough = [one for one in rounds.one_panel if needed <= one]
        if enough:
            return shape_of(problem, traits, min(enough))
        widest = shape_of(problem, traits, traits.panel_rounds)
        if is_wide(problem, widest):
            return widest
        shapes = (shape_of(problem, traits, one) for one in rounds.panels)
        return min(shapes, key=lambda one: one.cells + (one.cells // 32 if one.cells % _PAGE == 0 else 0))

    @staticmethod
    def _rounds(problem: Problem, traits: Traits) -> _Rounds:
        """Return the rounds of the forms that have kernels for the problem."""
        raise NotImplementedError

    def _sizes(self) -> tuple[int, ...]:
        """Return the fields of Sizes, then those of Layout."""
        sizes, layout = make_sizes(self.shape, self.problem.classes)
        return tuple(int(one) for one in (*sizes, *layout))


class SpecialisedPreorderEncoding(_FormEncoding):
    """Preorder intervals for kernels whose sizes and variant are specialisation constants."""

    _kernel = "SPECIALISED"
    _targets = (MADE_FOR,)

    @staticmethod
    def _rounds(problem: Problem, traits: Traits) -> _Rounds:
        """Return those of FORMS; of MORE_PANELS_FORMS, too, for the maximum score with fixed rates."""
        more = () if problem.reads_all_scores else tuple(reversed(_MORE_PANELS_ROUNDS))
        return _Rounds(_ONE_PANEL_ROUNDS, (_MOST, *more))

    @property
    def specialisation(self) -> tuple[int, ...]:
        """See `Encoding.specialisation`."""
        return (*self._sizes(), *map(int, self.variant))


class GeneralPreorderEncoding(ReadsSizes, _FormEncoding):
    """Preorder intervals for kernels that read their sizes from an argument."""

    _sizes_argument = SIZES
    _targets = HAVE_GENERAL

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        self.variant = ANY_PROBLEM

    @staticmethod
    def _rounds(problem: Problem, traits: Traits) -> _Rounds:
        """Return those of CUDA_FORMS, or of FORMS; of SUM_FORM, too, for a sum score with fixed rates."""
        if traits == CUDA:
            if problem.learns:
                return _Rounds(_LEARNED_CUDA_ROUNDS, _LEARNED_CUDA_ROUNDS)
            return _Rounds(_CUDA_ROUNDS, _CUDA_PANELS_ROUNDS)
        own = (_SUM_ROUNDS,) if problem.octaves and not problem.learns else ()
        return _Rounds((*_ONE_PANEL_ROUNDS, *own), (_MOST, *own))


def constants_of(form: Form) -> dict[str, int]:
    """Return the constants that a kernel of a form is compiled for."""
    return {"lanes": form.lanes, "rounds": form.rounds, "broad": form.broad}


def _form_for(shape: Shape, *, wide: bool) -> Form:
    if shape.lanes == CUDA.lanes:
        forms = CUDA_FORMS
    else:
        forms = (*FORMS, SUM_FORM) if wide or shape.panels == 1 else (*MORE_PANELS_FORMS, *FORMS)
    return next(form for form in forms if (form.rounds, form.subtrees) == (shape.rounds, int(wide)))
