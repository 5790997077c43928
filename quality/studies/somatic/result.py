"""Outcome of the study of somatic calls: a value with a report and a text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from syclade.quality.text_table import text_table

__all__ = ["DEPTHS", "SomaticResult", "SomaticScore"]

DEPTHS: Final = (30, 100, 300, 1000, 3000)
"""Mean depths of the simulated pairs."""


@dataclass(frozen=True)
class SomaticScore:
    """Somatic calls of a program for one pair.

    Attributes:
        depth, seed: the pair.
        program: the program.
        truth: number of somatic variants.
        right: number of them that were called.
        germline: germline variants that were called somatic.
        false: other calls.
        lowest: lowest frequency of those that were called; None if none was.
        shared: calls that syclade makes, too.
        calls: all calls.
        seconds: processor seconds.
    """

    depth: int
    seed: int
    program: str
    truth: int
    right: int
    germline: int
    false: int
    lowest: float | None
    shared: int
    calls: int
    seconds: float


class _Sum(NamedTuple):
    """Sums over the pairs of a depth: wrong calls are germline variants and others."""

    truth: int
    right: int
    wrong: int
    shared: int
    calls: int
    seconds: float


@dataclass(frozen=True)
class SomaticResult:
    """Outcome of `somatic_study`.

    Attributes:
        scores: those of each pair and program.
        lofreq: the other program; None without one.
        inputs: pairs of each depth.
        seed: seed of the first pair.
        length: length of the genome.
    """

    scores: tuple[SomaticScore, ...]
    lofreq: str | None
    inputs: int
    seed: int
    length: int

    def sums(self, depth: int, program: str) -> _Sum:
        """Return the sums of a program at a depth."""
        here = [one for one in self.scores if (one.depth, one.program) == (depth, program)]
        return _Sum(
            sum(one.truth for one in here),
            sum(one.right for one in here),
            sum(one.germline + one.false for one in here),
            sum(one.shared for one in here),
            sum(one.calls for one in here),
            sum(one.seconds for one in here),
        )

    @property
    def programs(self) -> list[str]:
        """The programs, syclade first."""
        return list(dict.fromkeys(one.program for one in self.scores))

    @property
    def holds(self) -> bool:
        """Return whether syclade finds as many as each other program, and no more false ones, in total."""
        totals = {
            program: (
                sum(one.right for one in self.scores if one.program == program),
                sum(one.germline + one.false for one in self.scores if one.program == program),
            )
            for program in self.programs
        }
        found, wrong = totals["syclade"]
        return all(found >= right and wrong <= false for right, false in totals.values())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in somatic.json."""
        return {
            "check": "somatic",
            "holds": self.holds,
            "settings": {"inputs": self.inputs, "seed": self.seed, "length": self.length},
            "results": [asdict(one) for one in self.scores],
        }

    def markdown(self) -> str:
        """Return recall and false calls at each depth, as a table."""
        rows = []
        for depth in dict.fromkeys(one.depth for one in self.scores):
            row = [f"{depth:,}"]
            for program in self.programs:
                found = self.sums(depth, program)
                row += [f"{found.right} of {found.truth}", str(found.wrong)]
                row += [] if program == self.programs[0] else [f"{found.shared} of {found.calls}"]
                row.append(f"{found.seconds:.1f} s")
            rows.append(row)
        heads = ["depth"]
        for program in self.programs:
            heads += [f"{program}: found", "false"]
            heads += [] if program == self.programs[0] else ["calls that syclade makes, too"]
            heads.append("time")
        verdict = "as expected" if self.holds else "NOT AS EXPECTED"
        return f"{text_table(heads, rows)}\n\nfound, false calls and processor seconds: {verdict}"
