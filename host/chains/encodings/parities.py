"""Parities of copies: each node has rows of what is below it, by the number of copies (kernels/parities)."""

from __future__ import annotations

from syclade.host.chains.encodings.sums import GeneralSumsEncoding, SpecialisedSumsEncoding, SumsEncoding
from syclade.host.data.model.problem import Problem
from syclade.kernels.parities import maxima, sums
from syclade.kernels.sums import rates
from syclade.kernels.sums.arguments import ARGUMENTS

__all__ = ["GeneralParitiesEncoding", "ParitiesEncoding", "SpecialisedParitiesEncoding"]


class ParitiesEncoding(SumsEncoding):
    """Parents and sorted children; the device computes the rows of a tree."""

    name = "parities"
    has_shares = False
    _fixed = ("syclade.kernels.parities.encoding", ARGUMENTS)
    _learned = ("syclade.kernels.parities.learned", (*ARGUMENTS, *rates.ARGUMENTS))

    @staticmethod
    def _rows(problem: Problem) -> int:
        """Return the rows of a node: those of the maximum score, or of scores that add up powers."""
        return sums.COUNT if problem.octaves else maxima.COUNT

    @classmethod
    def _forms(cls) -> tuple[type[SumsEncoding], type[SumsEncoding]]:
        """See `SumsEncoding._forms`."""
        return SpecialisedParitiesEncoding, GeneralParitiesEncoding


class SpecialisedParitiesEncoding(ParitiesEncoding, SpecialisedSumsEncoding):
    """Parities for kernels whose sizes are specialisation constants."""


class GeneralParitiesEncoding(ParitiesEncoding, GeneralSumsEncoding):
    """Parities for kernels that read their sizes from an argument."""
