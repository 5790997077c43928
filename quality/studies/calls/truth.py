"""Recall and false calls on simulated reads, at several depths, beside those of LoFreq's way (compat)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from syclade.host.calls.reference import BASES, Reference
from syclade.host.calls.regions import whole
from syclade.host.calls.run import call_variants, samples_of
from syclade.host.ground.options.calls import CallOptions
from syclade.quality.studies.calls.simulation import simulate_reads, write_reads

__all__ = ["DEPTHS", "FREQUENCIES", "Score", "print_table", "score_depth"]

DEPTHS = (300, 1000, 3000, 10000, 20000)
FREQUENCIES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
LENGTH = 1000

Score = tuple[int, int, float]
"""Variants found, false calls, and the smallest frequency that was found."""


def score_depth(depth: int, seed: int, modes: Sequence[CallOptions]) -> list[Score]:
    """Return the score of each mode on reads of one depth."""
    made = simulate_reads(LENGTH, depth, FREQUENCIES, seed)
    truth = {(one.position, BASES[one.alternative]): one.frequency for one in made.variants}
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        path = write_reads(made, Path(folder))
        reference = Reference(Path(folder) / "reference.fa")
        samples = samples_of([path], reference)
        for options in modes:
            called = call_variants(reference, samples, whole(reference.lengths), options)
            passed = [call.allele for one in called.variants for call in one.calls if not call.filters]
            found = {(one.position, one.alternative) for one in passed}
            right = [truth[place] for place in found & truth.keys()]
            scores.append((len(right), len(found - truth.keys()), min(right, default=1.0)))
        reference.close()
    return scores


def print_table(
    score: Callable[[int, int, Sequence[CallOptions]], Sequence[Score]],
    depths: Sequence[int],
    modes: Sequence[CallOptions],
) -> None:
    """Print a table of all depths: syclade's score, and that of LoFreq's way.

    Args:
        score: function of depth, seed and modes.
        depths: the depths, which are also the seeds.
        modes: options of both.
    """
    print("| depth | found of 10 | false | smallest frequency found | LoFreq: found | false |")
    print("|---|---|---|---|---|---|")
    for depth in depths:
        own, lofreq = score(depth, depth, modes)
        print(f"| {depth:,} | {own[0]} | {own[1]} | {own[2]:.1%} | {lofreq[0]} | {lofreq[1]} |", flush=True)


if __name__ == "__main__":
    print_table(score_depth, DEPTHS, (CallOptions(), CallOptions(compat=True, drop_filtered=True)))
