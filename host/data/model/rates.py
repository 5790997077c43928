"""Error rates of the observation, and the tables derived from them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.zygosity import log_table
from syclade.host.ground.errors import RatesError
from syclade.host.ground.options import Options, checked, flag_of
from syclade.host.ground.supported import check_together

__all__ = ["Rates"]


@dataclass(frozen=True)
class Rates:
    """The rates of false observations (SCITE: Jahn, Kuipers, Beerenwinkel 2016).

    The tables have one row per observed value 0 to 3 (`zygosity.py`).

    Attributes:
        fp_rate: probability of observing a mutation that is absent (SCITE's alpha, ``-fd``).
        fn_rate: probability of not observing a mutation (SCITE's beta, ``-ad``).
        fn_rate_hom: probability of observing a heterozygous mutation as homozygous (the second value of
            ``-ad``); None if 2 does not occur.
        hom_rate: probability of observing a homozygous mutation that is absent (``-cc``); goes with
            fn_rate_hom, else None.
        merge_homozygous: whether an observed 2 is treated as 1.

    Raises:
        RatesError: a rate is not inside (0, 1); an observed mutation (1 or 2) would not be evidence for a
            mutation; one of the rates for zygosity is given without the other, or with merge_homozygous.
    """

    fp_rate: float
    fn_rate: float
    fn_rate_hom: float | None = None
    hom_rate: float | None = None
    merge_homozygous: bool = False

    def __post_init__(self) -> None:
        for name in ("fp_rate", "fn_rate"):
            object.__setattr__(self, name, _given(name, getattr(self, name)))
        if self.fn_rate_hom is not None or self.hom_rate is not None:
            self._check_zygosity()
        missed = self.fn_rate + (self.fn_rate_hom or 0.0)
        if 1.0 - missed <= self.fp_rate:
            third = "" if self.fn_rate_hom is None else f" and {self.fn_rate_hom!r}"
            raise RatesError(
                f"{flag_of('fp_rate')} {self.fp_rate!r} and {flag_of('fn_rate')} {self.fn_rate!r}{third} add "
                "up to 1 or more: an observed mutation would be evidence against the mutation",
                hint="check that the two rates are not exchanged, and that both are probabilities of errors",
            )

    def _check_zygosity(self) -> None:
        """Check both rates for zygosity: a homozygous observation must be evidence for the mutation."""
        check_together(Options(**asdict(self)), RatesError)
        for name in ("fn_rate_hom", "hom_rate"):
            object.__setattr__(self, name, checked(name, getattr(self, name), RatesError))
        assert self.fn_rate_hom is not None
        assert self.hom_rate is not None
        if self.fn_rate_hom <= self.hom_rate:
            raise RatesError(
                f"{flag_of('fn_rate_hom')} {self.fn_rate_hom!r} is not above {flag_of('hom_rate')} "
                f"{self.hom_rate!r}: a homozygous observation would be no evidence for the mutation",
                hint="check that the two rates are not exchanged",
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the rates as plain values by name, without those that are None or False."""
        return {
            name: value for name, value in asdict(self).items() if value is not None and value is not False
        }

    def log_table(self) -> NDArray[np.float64]:
        """Return log P(observed d | true e), natural logarithm: float64, shape (4, 2), row d, column e."""
        return log_table(self)

    def weights(self) -> NDArray[np.float64]:
        """Return log P(d | 1) - log P(d | 0), natural logarithm: float64, shape (4,)."""
        table = self.log_table()
        return np.asarray(table[:, 1] - table[:, 0])

    def flip_effect(self) -> float:
        """Return the largest change of the log-likelihood when one true value is flipped, in nats.

        This is the bound of the equivalence test of the ffSCITE thesis: the larger of |log a - log(1 - b)|
        and |log b - log(1 - a)|, a and b the two rates; with zygosity, the largest of three such weights.
        """
        return float(np.abs(self.weights()).max())


def _given(name: str, value: Any) -> Any:
    """Return a rate, checked.

    Raises:
        RatesError: it is missing, or no probability.
    """
    if value is None:
        raise RatesError(f"{flag_of(name)} is missing", hint="give a probability of errors, such as 0.01")
    return checked(name, value, RatesError)
