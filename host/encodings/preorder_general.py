"""Preorder intervals for kernels that serve many sizes: those that are compiled beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.encodings.base import Encoding
from syclade.host.encodings.preorder import PreorderEncoding, shape_of
from syclade.host.model.problem import Problem
from syclade.kernels.preorder.form import BROAD, Form
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.sizes import COUNT, SIZES, make_sizes
from syclade.kernels.target.sycl_traits import TRAITS as SYCL
from syclade.kernels.target.traits import Traits

__all__ = ["FORMS", "MADE_FOR", "GeneralPreorderEncoding", "constants_of"]

MADE_FOR = SYCL
"""The traits that the kernels are made for; a target with others (native's are the same) has none of them."""

_NARROW_ROUNDS = (2, 4, MADE_FOR.panel_rounds)

FORMS = (
    *(Form(MADE_FOR.lanes, rounds, 0, int(rounds * MADE_FOR.lanes >= BROAD), 0) for rounds in _NARROW_ROUNDS),
    Form(MADE_FOR.lanes, MADE_FOR.panel_rounds, 1, 1, 0),
)
"""The forms that there are kernels for."""


class GeneralPreorderEncoding(PreorderEncoding):
    """The same arrays, somewhat larger: rows are as wide as one of a few forms asks for."""

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        form = _form_for(self.shape)
        self.device = self.device.replace(":ENCODING", ":GENERAL")
        self.arguments = (*self.arguments, SIZES)
        self.constants = constants_of(form)
        if problem.learned is not None:  # a weight a class is kept in registers
            self.constants["classes"] = problem.classes

    @classmethod
    def can_run(cls, problem: Problem, traits: Traits) -> str | None:
        """See `Encoding.can_run`."""
        if traits != MADE_FOR:
            return "the kernels for many sizes are made for other targets"
        return super().can_run(problem, traits)

    @property
    def sizes(self) -> dict[str, int]:
        """See `Encoding.sizes`."""
        return super().sizes | {"sizes": COUNT}

    def general(self) -> Encoding | None:
        """It is."""
        return self

    @staticmethod
    def shape_for(problem: Problem, traits: Traits) -> Shape:
        """Sizes of the tables: panels of as many rounds as one of the forms has."""
        fitting = [rounds for rounds in _NARROW_ROUNDS if problem.columns <= rounds * traits.lanes]
        return shape_of(problem, traits, panel_rounds=(*fitting, traits.panel_rounds)[0])

    def problem_arrays(self) -> dict[str, NDArray[Any]]:
        """See `Encoding.problem_arrays`."""
        sizes, layout = make_sizes(self.shape, self.problem.classes)
        return super().problem_arrays() | {"sizes": np.array((*sizes, *layout), dtype=np.int64)}


def constants_of(form: Form) -> dict[str, int]:
    """What a kernel of a form is compiled for."""
    return {"lanes": form.lanes, "rounds": form.rounds, "broad": form.broad, "few": form.few}


def _form_for(shape: Shape) -> Form:
    return next(form for form in FORMS if (form.rounds, form.subtrees) == (shape.rounds, shape.subtrees))
