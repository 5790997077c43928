"""Outcome of the study of consensus trees: a value with a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from syclade.host.data.trees.distances import Agreement
from syclade.quality.peers.result import f1_of
from syclade.quality.studies import ChainsOnInputs
from syclade.quality.text_table import text_table

__all__ = ["ConsensusStudy", "Found"]

RELATIONS = ("ancestors", "lineages")
SAMPLED = 2
"""Position of the consensus with the default thresholds among the methods, after the other two."""


@dataclass(frozen=True)
class Found:
    """Outcome of one method for one input.

    Attributes:
        seed: seed of the input.
        method: name of the method.
        clones: number of clones of the tree; None if it is none.
        ess: effective sample size of the log-likelihood of the samples.
        agreement: agreement with the true tree on ancestors and on lineages.
    """

    seed: int
    method: str
    clones: int | None
    ess: float
    agreement: Mapping[str, Agreement]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        values = {
            name: {**asdict(one), "precision": one.precision, "recall": one.recall, "f1": f1_of(one)}
            for name, one in self.agreement.items()
        }
        return {"seed": self.seed, "method": self.method, "clones": self.clones, "ess": self.ess, **values}


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusStudy:
    """Outcome of `consensus`.

    Attributes:
        found: outcome of every method for every input.
        settings: sizes, chains and device.
    """

    found: tuple[Found, ...]
    settings: ChainsOnInputs

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in order; the third is the consensus with the default thresholds."""
        return list(dict.fromkeys(one.method for one in self.found))

    def mean_f1(self, method: str, relation: str) -> float:
        """Return the mean F1 of a method over the inputs, for a relation of `RELATIONS`."""
        return float(np.mean([f1_of(one.agreement[relation]) for one in self.found if one.method == method]))

    @property
    def holds(self) -> bool:
        """Return whether the consensus is no worse than the most likely tree, by both mean F1."""
        likely, ours = self.methods[0], self.methods[SAMPLED]
        return all(self.mean_f1(ours, one) >= self.mean_f1(likely, one) for one in RELATIONS)

    def __repr__(self) -> str:
        """Return one line with the main numbers."""
        likely, ours = (self.mean_f1(self.methods[at], RELATIONS[0]) for at in (0, SAMPLED))
        return f"<ConsensusStudy: F1 of ancestors {ours:.3f}, of the most likely tree {likely:.3f}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in consensus.json."""
        return {
            "check": "consensus",
            "holds": self.holds,
            "settings": asdict(self.settings),
            "found": [one.to_dict() for one in self.found],
        }

    def markdown(self) -> str:
        """Return the table in Markdown: means over the inputs."""
        heads = (
            "method",
            "ancestors: precision",
            "recall",
            "F1",
            "lineages: precision",
            "recall",
            "F1",
            "clones",
        )
        return text_table(heads, [self._row(method) for method in self.methods])

    def _row(self, method: str) -> tuple[str, ...]:
        own = [one for one in self.found if one.method == method]
        texts = [method]
        for relation in RELATIONS:
            pairs = [one.agreement[relation] for one in own]
            precision, recall = (
                float(np.mean([getattr(one, name) for one in pairs])) for name in ("precision", "recall")
            )
            texts += [f"{precision:.3f}", f"{recall:.3f}", f"{self.mean_f1(method, relation):.3f}"]
        clones = [one.clones for one in own if one.clones is not None]
        return (*texts, f"{np.mean(clones):.0f}" if clones else "")
