"""Outcome of the comparison with other programs: a value with a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from syclade.host.data.model.simulate import EQUAL
from syclade.host.data.trees.distances import Agreement
from syclade.quality.calibration.reliability import Reliability, together
from syclade.quality.peers.ahead import Ahead, ahead_by
from syclade.quality.peers.claims import RELATIONS, SHARES
from syclade.quality.text_table import text_table

__all__ = ["EQUAL_NODES", "ESTIMATED", "OF_READS", "OURS", "Found", "PeersStudy", "f1_of", "found_of"]

OURS = ("most likely tree", "the same, ties open", "consensus", f"pairs ≥ {SHARES}")
"""Names of our methods."""

ESTIMATED = "consensus, rates not given"
"""Name of our method that estimates the rates."""

OF_READS = ("most likely tree of reads", "consensus of reads")
"""Names of our methods that infer from numbers of reads in place of calls."""

EQUAL_NODES = "consensus, equal nodes"
"""Name of the control, which takes all nodes to be equally probable for a cell."""

CONSENSUS = OURS[2]

_COUNTS = ("count", "claimed", "true")
"""Fields of `Reliability`."""

MOST_ERROR = 0.03
"""Largest calibration error of the consensus' pairs with which the check holds."""


MOST_LOSS = 0.01
"""Largest loss of mean F1 without given rates with which the check holds."""


def f1_of(agreement: Agreement) -> float:
    """Return the harmonic mean of precision and recall; 1 if there are neither pairs found nor true ones."""
    pairs = agreement.found + agreement.true
    return 2.0 * agreement.shared / pairs if pairs else 1.0


@dataclass(frozen=True)
class Found:
    """Outcome of one method for one input.

    Attributes:
        seed: seed of the input.
        method: name of the method.
        seconds: processor time; 0 or little if the answer was stored.
        agreement: agreement with the true tree, by relation (`claims.RELATIONS`).
        pairs: reliability of shares of ancestor pairs; None if the method has none.
        enough: whether the samples were enough (`support.rounds.enough`); None without samples.
        inside: whether 90 % intervals contain the true rates, by name; None if no rate was estimated.
    """

    seed: int
    method: str
    seconds: float
    agreement: Mapping[str, Agreement]
    pairs: Reliability | None = None
    enough: bool | None = None
    inside: Mapping[str, bool] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        names = ("seed", "method", "seconds", "enough")
        pairs = None
        if self.pairs is not None:
            pairs = {name: getattr(self.pairs, name).tolist() for name in _COUNTS}
        return {
            **{name: getattr(self, name) for name in names},
            **{name: {**asdict(one), "f1": f1_of(one)} for name, one in self.agreement.items()},
            "pairs": pairs,
            "inside": None if self.inside is None else dict(self.inside),
        }


def found_of(record: Mapping[str, Any]) -> Found:
    """Return an outcome from its plain values, as of `Found.to_dict`."""
    pairs = record["pairs"]
    return Found(
        record["seed"],
        record["method"],
        record["seconds"],
        {name: Agreement(*(record[name][key] for key in ("shared", "found", "true"))) for name in RELATIONS},
        None if pairs is None else Reliability(*(np.array(pairs[name]) for name in _COUNTS)),
        record["enough"],
        record.get("inside"),
    )


@dataclass(frozen=True, eq=False, repr=False)
class PeersStudy:
    """Outcome of `peers`.

    Attributes:
        found: outcome of every method for every input that it has an answer for.
        settings: options, and versions, as plain values.
    """

    found: tuple[Found, ...]
    settings: Mapping[str, Any]

    @property
    def methods(self) -> list[str]:
        """Names of the methods, ours first."""
        return list(dict.fromkeys(one.method for one in self.found))

    @property
    def rivals(self) -> list[str]:
        """Names of the other programs' methods, and of the control where clones are of unequal sizes."""
        ours = (
            *OURS,
            ESTIMATED,
            *OF_READS,
            *((EQUAL_NODES,) if self.settings.get("shares", EQUAL) == EQUAL else ()),
        )
        return [method for method in self.methods if method not in ours]

    def of(self, method: str) -> dict[int, Found]:
        """Return the outcomes of a method by the seed of the input."""
        return {one.seed: one for one in self.found if one.method == method}

    def ahead(self, method: str, relation: str) -> Ahead:
        """Return by how much the consensus' F1 is higher on the inputs of a method."""
        ours = self.of(CONSENSUS)
        gains = [
            f1_of(ours[seed].agreement[relation]) - f1_of(one.agreement[relation])
            for seed, one in self.of(method).items()
        ]
        return ahead_by(gains)

    def pairs(self, method: str) -> Reliability | None:
        """Return the reliability of a method's pairs over all inputs; None if it has no shares."""
        parts = [one.pairs for one in self.of(method).values() if one.pairs is not None]
        return together(parts) if parts else None

    @property
    def rates_inside(self) -> dict[str, tuple[int, int]]:
        """By the name of a rate: how many intervals contain it, and how many there are."""
        inside = [one.inside for one in self.of(ESTIMATED).values() if one.inside is not None]
        names = inside[0] if inside else ()
        return {name: (sum(one[name] for one in inside), len(inside)) for name in names}

    @property
    def holds(self) -> bool:
        """Return whether the consensus is ahead of others, near without given rates, and calibrated."""
        own, names = self.pairs(CONSENSUS), RELATIONS[:2]
        ahead = all(self.ahead(method, name).mean > 0 for method in self.rivals for name in names)
        near = all(self.ahead(ESTIMATED, name).mean <= MOST_LOSS for name in names if self.of(ESTIMATED))
        return ahead and near and own is not None and own.error <= MOST_ERROR

    def __repr__(self) -> str:
        """Return one line with the main numbers."""
        listing = ", ".join(f"{name} {self.ahead(name, RELATIONS[0]).mean:+.3f}" for name in self.rivals)
        return f"<PeersStudy: F1 of the consensus above others: {listing or 'none'}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in peers.json."""
        reliable = {name: self.pairs(name) for name in self.methods}
        return {
            "check": "peers",
            "holds": self.holds,
            "settings": dict(self.settings),
            "rates_inside": self.rates_inside,
            "means": {method: self._means(method) for method in self.methods},
            "reliability": {name: one.to_dict() for name, one in reliable.items() if one is not None},
            "found": [one.to_dict() for one in self.found],
        }

    def _means(self, method: str) -> dict[str, Any]:
        """Return means over the inputs of a method, and the F1 that the consensus has more."""
        own = list(self.of(method).values())
        means: dict[str, Any] = {"inputs": len(own)}
        for name in RELATIONS:
            pairs = [one.agreement[name] for one in own]
            means[name] = {
                "precision": float(np.mean([one.precision for one in pairs])),
                "recall": float(np.mean([one.recall for one in pairs])),
                "f1": float(np.mean([f1_of(one) for one in pairs])),
                **self.ahead(method, name).to_dict(),
            }
        return means

    def markdown(self) -> str:
        """Return the table in Markdown: means over the inputs."""
        names = ("ancestors", "lineages", "seen ancestors", "seen lineages")
        heads = (
            "method",
            "inputs",
            *(f"{name}: P / R / F1" for name in names[:2]),
            *(f"{name}: F1" for name in names[2:]),
            "consensus ahead (95 % interval): ancestors",
            "lineages",
            "error of shares",
        )
        table = text_table(heads, [self._row(method) for method in self.methods])
        inside = [f"{name} in {n} of {of}" for name, (n, of) in self.rates_inside.items()]
        return table + (f"\n\n90 % intervals contain {', '.join(inside)} inputs" if inside else "")

    def _row(self, method: str) -> tuple[str, ...]:
        means, pairs = self._means(method), self.pairs(method)
        full = [" / ".join(f"{means[name][key]:.3f}" for key in ("precision", "recall", "f1"))
                for name in RELATIONS[:2]]  # fmt: skip
        ahead = ["" if method == CONSENSUS else self.ahead(method, name).text for name in RELATIONS[:2]]
        return (
            method,
            str(means["inputs"]),
            *full,
            *(f"{means[name]['f1']:.3f}" for name in RELATIONS[2:]),
            *ahead,
            "" if pairs is None else f"{pairs.error:.3f}",
        )
