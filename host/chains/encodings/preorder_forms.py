"""Preorder intervals for kernels that serve many sizes: the precompiled ones."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from syclade.host.chains.encodings.base import MADE_FOR
from syclade.host.chains.encodings.preorder import PreorderEncoding, is_wide, shape_of
from syclade.host.chains.encodings.reads_sizes import ReadsSizes
from syclade.host.data.model.problem import Problem
from syclade.kernels.preorder.form import BROAD, Form
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.sizes import ANY_PROBLEM, SIZES, make_sizes
from syclade.kernels.target.traits import Traits

__all__ = [
    "FORMS",
    "MORE_PANELS_FORMS",
    "SUM_FORM",
    "GeneralPreorderEncoding",
    "SpecialisedPreorderEncoding",
    "constants_of",
]

_MOST = MADE_FOR.panel_rounds

_ONE_PANEL_ROUNDS, _MORE_PANELS_ROUNDS = (2, 4, 6, _MOST), (5, 6, 7)
"""Cells of a panel per lane, in tables of one panel and of several; several panels may have _MOST, too."""

_SUM_ROUNDS = 5
"""Another number for general kernels of sum scores with fixed rates, in one panel or several."""

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


class _More(NamedTuple):
    """Rounds of forms besides FORMS, for tables of one panel and of several."""

    one_panel: tuple[int, ...]
    panels: tuple[int, ...]


class _FormEncoding(PreorderEncoding):
    """Preorder intervals with rows padded to the width that one of a few forms has."""

    _kernel: ClassVar[str]

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
        if traits != MADE_FOR:
            return "the kernels for many sizes are made for other targets"
        return super().can_run(problem, traits)

    @classmethod
    def shape_for(cls, problem: Problem, traits: Traits) -> Shape:
        """Return the sizes of the tables, with the rounds of the form that needs the least padding."""
        needed, more = -(-problem.columns // traits.lanes), cls._more_rounds(problem)
        if needed <= _MOST:
            rounds = sorted({*_ONE_PANEL_ROUNDS, *more.one_panel})
            return shape_of(problem, traits, next(one for one in rounds if needed <= one))
        widest = shape_of(problem, traits, _MOST)
        if is_wide(problem, widest):
            return widest
        shapes = (widest, *(shape_of(problem, traits, one) for one in more.panels))
        return min(shapes, key=lambda one: one.cells)

    @staticmethod
    def _more_rounds(problem: Problem) -> _More:
        """Return the rounds of forms that have kernels for the problem besides FORMS."""
        return _More((), ())

    def _sizes(self) -> tuple[int, ...]:
        """Return the fields of Sizes, then those of Layout."""
        sizes, layout = make_sizes(self.shape, self.problem.classes)
        return tuple(int(one) for one in (*sizes, *layout))


class SpecialisedPreorderEncoding(_FormEncoding):
    """Preorder intervals for kernels whose sizes and variant are specialisation constants."""

    _kernel = "SPECIALISED"

    @staticmethod
    def _more_rounds(problem: Problem) -> _More:
        """Return those of MORE_PANELS_FORMS if the score is the maximum and the rates are fixed."""
        return _More((), () if problem.reads_all_scores else tuple(reversed(_MORE_PANELS_ROUNDS)))

    @property
    def specialisation(self) -> tuple[int, ...]:
        """See `Encoding.specialisation`."""
        return (*self._sizes(), *map(int, self.variant))


class GeneralPreorderEncoding(ReadsSizes, _FormEncoding):
    """Preorder intervals for kernels that read their sizes from an argument."""

    _sizes_argument = SIZES

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        self.variant = ANY_PROBLEM

    @staticmethod
    def _more_rounds(problem: Problem) -> _More:
        """Return that of SUM_FORM if the score is a sum and the rates are fixed."""
        own = (_SUM_ROUNDS,) if problem.octaves and not problem.learns else ()
        return _More(own, own)


def constants_of(form: Form) -> dict[str, int]:
    """Return the constants that a kernel of a form is compiled for."""
    return {"lanes": form.lanes, "rounds": form.rounds, "broad": form.broad}


def _form_for(shape: Shape, *, wide: bool) -> Form:
    forms = (*FORMS, SUM_FORM) if wide or shape.panels == 1 else (*MORE_PANELS_FORMS, *FORMS)
    return next(form for form in forms if (form.rounds, form.subtrees) == (shape.rounds, int(wide)))
