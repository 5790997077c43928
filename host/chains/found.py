"""What was found, by chains or by searches, and where: what a result is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from syclade.host.chains.pipeline import Outcome
from syclade.host.devices.device import Device

__all__ = ["Found", "Search"]


class Search(NamedTuple):
    """One search.

    Attributes:
        start: how it began (docs/search.md).
        log_likelihood: of its best tree, natural log, for rounded weights.
    """

    start: str
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class Found:
    """See the module.

    Attributes:
        outcome: its best state has the best tree; the rest is the chains'.
        steps: that every chain has done.
        device: that was chosen.
        encoding: of the chains; empty if there were none.
        slots: chains or searches at once.
        tiers: steps of the chains by tier.
        searches: in the order of their numbers; none where only chains ran.
        search_tier: what did the searches: native, sycl or numpy.
    """

    outcome: Outcome
    steps: int
    device: Device
    encoding: str
    slots: int
    tiers: dict[str, int]
    searches: tuple[Search, ...] = ()
    search_tier: str = ""
