"""Outcome of the comparison of models: a value with a report and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from syclade.quality.models.fit import Fit
from syclade.quality.text_table import text_table

__all__ = ["Explained", "ModelsResult"]

_HEADS = (
    "matrix", "size", "single cells", "control", "doublets", "α", "β", "δ", "of two branches", "called",
    "gain", "p", "over control", "BIC is best for",
)  # fmt: skip


@dataclass(frozen=True)
class Explained:
    """One matrix.

    Attributes:
        name: its name.
        mutations, cells: its size.
        fits: best fit of each model, by name.
        seconds: processor seconds.
    """

    name: str
    mutations: int
    cells: int
    fits: Mapping[str, Fit]
    seconds: float

    @property
    def gain(self) -> float:
        """Gain in log-likelihood by doublets over single cells, natural log."""
        return self.fits["doublets"].log_likelihood - self.fits["single"].log_likelihood

    @property
    def over_control(self) -> float:
        """Gain in log-likelihood by doublets over the control, which has as many parameters."""
        return self.fits["doublets"].log_likelihood - self.fits["control"].log_likelihood

    @property
    def p_value(self) -> float:
        """Likelihood-ratio test of a rate of 0, which is an end of its range: half of a chi-square of 1."""
        return 0.5 * math.erfc(math.sqrt(self.gain)) if self.gain > 0.0 else 1.0

    @property
    def bic(self) -> dict[str, float]:
        """Bayesian information criterion of each model, cells as observations; the lowest is best."""
        return {
            model: (2 if model == "single" else 3) * math.log(self.cells) - 2.0 * fit.log_likelihood
            for model, fit in self.fits.items()
        }

    @property
    def best(self) -> str:
        """Model with the lowest BIC."""
        return min(self.bic, key=lambda model: self.bic[model])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "name": self.name,
            "mutations": self.mutations,
            "cells": self.cells,
            "seconds": self.seconds,
            "gain": self.gain,
            "p_value": self.p_value,
            "over_control": self.over_control,
            "best": self.best,
            "bic": self.bic,
            **{model: fit._asdict() for model, fit in self.fits.items()},
        }

    def row(self) -> tuple[str, ...]:
        """Return the row of the table."""
        of = self.fits["doublets"]
        return (
            self.name,
            f"{self.mutations} × {self.cells}",
            *(f"{fit.log_likelihood:.2f}" for fit in self.fits.values()),
            *(f"{of.fp_rate:.2g}", f"{of.fn_rate:.3f}", f"{of.doublets:.3f}", f"{of.relevant:.3f}"),
            *(
                str(of.calls),
                f"{self.gain:.2f}",
                f"{self.p_value:.1g}",
                f"{self.over_control:+.2f}",
                self.best,
            ),
        )


@dataclass(frozen=True, eq=False, repr=False)
class ModelsResult:
    """Outcome of `models`.

    Attributes:
        explained: every matrix.
        fp_rate, fn_rate: means of the priors.
        chains, steps: number of chains, and steps of each.
        device: device of all chains.
        seed: seed of the chains.
    """

    explained: tuple[Explained, ...]
    fp_rate: float
    fn_rate: float
    chains: int
    steps: int
    device: str
    seed: int

    @property
    def holds(self) -> bool:
        """Return whether doublets are nowhere below single cells, which they contain."""
        return all(one.gain >= -1e-6 for one in self.explained)

    def __repr__(self) -> str:
        """Return one line with the main numbers."""
        better = sum(one.best == "doublets" for one in self.explained)
        return f"<ModelsResult: doublets explain {better} of {len(self.explained)} matrices better>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in models.json; log-likelihoods in nats."""
        settings = {
            name: getattr(self, name) for name in ("fp_rate", "fn_rate", "chains", "steps", "device", "seed")
        }
        return {
            "check": "models",
            "holds": self.holds,
            "settings": settings,
            "matrices": [one.to_dict() for one in self.explained],
        }

    def markdown(self) -> str:
        """Return the table in Markdown."""
        return text_table(_HEADS, [one.row() for one in self.explained])

    def tsv(self) -> str:
        """Return the numbers as a table with tabs."""
        lines: list[str] = []
        for one in self.explained:
            flat = dict(_flat(one.to_dict()))
            lines = lines or ["\t".join(flat)]
            lines.append("\t".join(flat.values()))
        return "\n".join(lines) + "\n"


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield names and texts of plain values, with the names of groups before those of their values."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, f"{value:.10g}" if isinstance(value, float) else str(value)
