"""P-values of tests: exact tails, and a bound that rules out most tests without them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.columns import ColumnsToTest
from syclade.host.calls.kernels import Place, here
from syclade.host.calls.tails import Columns, log_tails
from syclade.host.device.work import WorkDone, merged_work

__all__ = ["ExactTails", "may_be_significant", "poisson_screen"]


def may_be_significant(columns: ColumnsToTest, sig: float) -> NDArray[np.bool_]:
    """Return which tested columns may have an alternative whose tail is at most `sig`.

    Args:
        columns: the columns of a window.
        sig: significance level of one test.
    """
    most = columns.alternatives.max(axis=1)
    possible = poisson_screen(columns.starts, columns.probability, columns.count, most, sig)
    return columns.tested & possible


def poisson_screen(
    starts: NDArray[np.int64],
    p: NDArray[np.float64],
    count: NDArray[np.int64],
    most: NDArray[np.int64],
    sig: float,
) -> NDArray[np.bool_]:
    """Return which tails may be at most `sig`, bool, (columns,).

    A Poisson-binomial distribution with mean m differs from the Poisson distribution by at most
    min(1, 1/m) · Σ p² in the probability of any event. So a column whose Poisson tail exceeds `sig` by more
    has a larger tail. Source: Barbour and Hall, Math. Proc. Camb. Phil. Soc. 95 (1984).

    Args:
        starts: int64, (columns + 1,): where the groups of each column begin.
        p, count: float64 and int64, (groups,): error probability, and number of trials with it.
        most: int64, (columns,): the observed number of errors.
        sig: significance level of one test.
    """
    from scipy.special import pdtrc

    columns = len(most)
    owner = np.repeat(np.arange(columns), np.diff(starts))
    mean = np.bincount(owner, p * count, columns)
    squares = np.bincount(owner, p * p * count, columns)
    tail = pdtrc(np.maximum(most - 1, 0), mean)  # P(X ≥ most)
    distance = squares * np.minimum(1.0, 1.0 / np.maximum(mean, 1e-300))
    possible: NDArray[np.bool_] = tail - distance * (1 + 1e-9) <= sig
    return possible


class ExactTails:
    """Computes tails, and counts them.

    Attributes:
        work: the columns that were computed.

    Args:
        place: where; None: here.
    """

    def __init__(self, place: Place | None = None) -> None:
        self._device = (place or here()).device.filter
        self.work: tuple[WorkDone, ...] = ()

    def of(self, columns: Columns) -> NDArray[np.float64]:
        """Return ln P(X ≥ K) of each column, float64, (columns,).

        Raises:
            DeviceError: the kernel cannot be compiled, or the device cannot be used.
        """
        found = log_tails(columns, device=self._device)
        self.work = merged_work((self.work, found.work))
        return found.log_tails
