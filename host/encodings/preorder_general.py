"""Preorder intervals for kernels that serve many sizes: those that are compiled beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.encodings.base import Encoding
from syclade.host.encodings.preorder import LANES, PreorderEncoding, shape_of
from syclade.host.model.problem import Problem
from syclade.kernels.preorder.form import BROAD, Form
from syclade.kernels.preorder.shape import PANEL_ROUNDS, Shape
from syclade.kernels.preorder.sizes import COUNT, SIZES, make_sizes

__all__ = ["FORMS", "GeneralPreorderEncoding", "constants_of"]

CLASSES = 3
"""Of observed values: mutated, not mutated, and those that tell nothing."""

_NARROW_ROUNDS = (2, 4, PANEL_ROUNDS)

FORMS = (
    *(Form(LANES, rounds, 0, int(rounds * LANES >= BROAD), 0) for rounds in _NARROW_ROUNDS),
    Form(LANES, PANEL_ROUNDS, 1, 1, 0),
)
"""The forms that there are kernels for."""


class GeneralPreorderEncoding(PreorderEncoding):
    """The same arrays, somewhat larger: rows are as wide as one of a few forms asks for."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        form = _form_for(self.shape)
        self.device = f"syclade.kernels.preorder.{'wide' if self.wide else 'narrow'}.encoding:GENERAL"
        self.arguments = (*self.arguments, SIZES)
        self.constants = constants_of(form)

    @classmethod
    def can_run(cls, problem: Problem) -> str | None:
        """See `Encoding.can_run`."""
        if problem.classes != CLASSES:
            return f"the matrix has {problem.classes - 1} kinds of observed values"
        return super().can_run(problem)

    @property
    def sizes(self) -> dict[str, int]:
        """See `Encoding.sizes`."""
        return super().sizes | {"sizes": COUNT}

    def general(self) -> Encoding | None:
        """It is."""
        return self

    @staticmethod
    def shape_for(problem: Problem) -> Shape:
        """Sizes of the tables: panels of as many rounds as one of the forms has."""
        columns = problem.columns
        rounds = next((some for some in _NARROW_ROUNDS if columns <= some * LANES), PANEL_ROUNDS)
        return shape_of(problem, rounds, panels=-(-columns // (rounds * LANES)))

    def problem_arrays(self) -> dict[str, NDArray[Any]]:
        """See `Encoding.problem_arrays`."""
        sizes, layout = make_sizes(self.shape, self.problem.classes)
        return super().problem_arrays() | {"sizes": np.array((*sizes, *layout), dtype=np.int64)}


def constants_of(form: Form) -> dict[str, int]:
    """What a kernel of a form is compiled for."""
    constants = {"lanes": form.lanes, "rounds": form.rounds, "broad": form.broad, "few": form.few}
    return constants | ({"classes": CLASSES} if form.subtrees else {})


def _form_for(shape: Shape) -> Form:
    return next(form for form in FORMS if (form.rounds, form.subtrees) == (shape.rounds, shape.subtrees))
