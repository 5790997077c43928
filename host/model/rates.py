"""The error rates of the observation, and the tables that follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.errors import RatesError
from syclade.host.values import real

__all__ = ["Rates"]


@dataclass(frozen=True)
class Rates:
    """The rates of false observations (SCITE: Jahn, Kuipers, Beerenwinkel 2016).

    The tables have a row for each observed value 0 to 3. Row 2 (homozygous) is zero and reserved: the
    full table with zygosity changes these tables only, not their shape.

    Attributes:
        fp_rate: probability that a mutation is observed where there is none (SCITE's alpha, ``-fd``).
        fn_rate: probability that a mutation is not observed (SCITE's beta, ``-ad``).

    Raises:
        RatesError: a rate is not inside (0, 1), or 1 - fn_rate <= fp_rate: then an observed mutation
            would be no evidence for a mutation.
    """

    fp_rate: float
    fn_rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "fp_rate", _checked("fp_rate", "--fp-rate", self.fp_rate))
        object.__setattr__(self, "fn_rate", _checked("fn_rate", "--fn-rate", self.fn_rate))
        if 1.0 - self.fn_rate <= self.fp_rate:
            raise RatesError(
                f"fp_rate (--fp-rate) {self.fp_rate!r} and fn_rate (--fn-rate) {self.fn_rate!r} add up to "
                "1 or more: an observed mutation would speak against the mutation",
                hint="check that the two rates are not exchanged, and that both are probabilities of errors",
            )

    def log_table(self) -> NDArray[np.float64]:
        """log P(observed d | true e), natural logarithm: float64, shape (4, 2), row d, column e."""
        return np.array(
            [
                [math.log1p(-self.fp_rate), math.log(self.fn_rate)],
                [math.log(self.fp_rate), math.log1p(-self.fn_rate)],
                [0.0, 0.0],
                [0.0, 0.0],
            ]
        )

    def weights(self) -> NDArray[np.float64]:
        """log P(d | 1) - log P(d | 0), natural logarithm: float64, shape (4,)."""
        table = self.log_table()
        return np.asarray(table[:, 1] - table[:, 0])

    def flip_effect(self) -> float:
        """The largest change of the log-likelihood by one flipped true value, in nats.

        The bound of the equivalence test of the ffSCITE thesis: the larger of |log a - log(1 - b)| and
        |log b - log(1 - a)|, a and b the two rates.
        """
        return float(np.abs(self.weights()).max())


def _checked(name: str, option: str, value: object) -> float:
    """The rate as a float, if it is one."""
    rate = real(f"{name} ({option})", value, RatesError)
    if not 0.0 < rate < 1.0:  # also refuses NaN
        raise RatesError(
            f"{name} ({option}) is {rate!r}",
            hint="an error rate is a probability between 0 and 1, both excluded",
        )
    return rate
