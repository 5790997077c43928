"""Recall and false calls of somatic variants at several depths, beside those of `lofreq somatic`.

Each pair has a tumour and a normal sample of the same depth. The tumour has the germline variants of the
normal, and somatic ones at several frequencies; some germline variants are lost or homozygous in it.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from syclade.host.calls.reference import BASES
from syclade.host.calls.request import call
from syclade.host.ground.errors import OptionError
from syclade.quality.studies.calls.simulation import SimulatedVariant, sequence, write_reads
from syclade.quality.studies.somatic.result import DEPTHS, SomaticResult, SomaticScore
from syclade.quality.work import Progress

__all__ = ["FREQUENCIES", "Pair", "simulate_pair", "somatic_study"]

FREQUENCIES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
LENGTH = 10_000
_OF_EACH = 3
_CHANGES = (0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5, 0.5)
"""Frequencies of germline variants in the normal sample."""
_IN_TUMOUR = (0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 0.8, 0.2, 0.0)
"""Frequencies of the same in the tumour: of some, a part of its cells has lost one of the alleles."""

_MOST_SECONDS = 3600

Allele = tuple[int, str]
"""Position from 1, and the alternative base."""


@dataclass(frozen=True)
class Pair:
    """Files of a simulated tumour with its normal sample.

    Attributes:
        reference, tumour, normal: the files.
        somatic: frequency of each somatic variant.
        germline: the germline variants.
    """

    reference: Path
    tumour: Path
    normal: Path
    somatic: dict[Allele, float]
    germline: set[Allele]


class _Outcome(NamedTuple):
    """Somatic variants that a program called, and its processor seconds."""

    found: set[Allele]
    seconds: float


def simulate_pair(
    folder: Path, depth: int, seed: int, *, length: int = LENGTH, of_each: int = _OF_EACH
) -> Pair:
    """Write a tumour and a normal sample of one depth.

    Args:
        folder: where to write.
        depth: mean depth of each.
        seed: seed of the random numbers.
        length: length of the genome.
        of_each: somatic variants of each of `FREQUENCIES`.
    """
    rng = np.random.default_rng([seed, depth])
    reference = rng.integers(0, 4, length).astype(np.uint8)
    parts = [part for part in FREQUENCIES for _ in range(of_each)]
    kinds = rng.permutation(len(parts) + len(_CHANGES))
    places = np.linspace(0, length, len(kinds) + 2).astype(int)[1:-1] + rng.integers(-9, 10, len(kinds))
    others = (reference[places] + rng.integers(1, 4, len(places))) % 4
    tumour, normal, somatic, germline = [], [], {}, set()
    for kind, at, base in zip(kinds.tolist(), places.tolist(), others.tolist(), strict=True):
        allele = at + 1, BASES[base]
        if kind < len(parts):
            somatic[allele] = parts[kind]
            tumour.append(SimulatedVariant(at, base, parts[kind]))
        else:
            germline.add(allele)
            normal.append(SimulatedVariant(at, base, _CHANGES[kind - len(parts)]))
            tumour.append(SimulatedVariant(at, base, _IN_TUMOUR[kind - len(parts)]))
    made = {}
    for name, variants in (("tumour", tumour), ("normal", normal)):
        made[name] = write_reads(sequence(reference, variants, depth, rng), folder, name, name)
    return Pair(folder / "reference.fa", made["tumour"], made["normal"], somatic, germline)


def somatic_study(
    *,
    lofreq: str | None = None,
    depths: Sequence[int] = DEPTHS,
    inputs: int = 3,
    seed: int = 1,
    length: int = LENGTH,
    progress: Progress | None = None,
) -> SomaticResult:
    """Call simulated pairs by syclade, and by `lofreq somatic` without and with source qualities.

    Args:
        lofreq: the program; None leaves it out.
        depths: mean depths.
        inputs: pairs of each depth.
        seed: seed of the first pair.
        length: length of the genome.
        progress: called before each pair.

    Raises:
        OptionError: the program cannot be run, or fails.
    """
    scores = []
    for number, depth in enumerate(depths):
        for one in range(inputs):
            if progress is not None:
                progress(f"depth {depth}", number * inputs + one, len(depths) * inputs)
            with tempfile.TemporaryDirectory() as folder:
                pair = simulate_pair(Path(folder), depth, seed + one, length=length)
                outcomes = {"syclade": _own(pair)}
                if lofreq is not None:
                    outcomes["lofreq somatic --no-src-qual"] = _lofreq(lofreq, pair, "--no-src-qual")
                    outcomes["lofreq somatic"] = _lofreq(lofreq, pair)
                own = outcomes["syclade"].found
                scores += [
                    _score(depth, seed + one, name, pair, outcome, own) for name, outcome in outcomes.items()
                ]
    return SomaticResult(tuple(scores), lofreq, inputs, seed, length)


def _score(
    depth: int, seed: int, program: str, pair: Pair, outcome: _Outcome, own: set[Allele]
) -> SomaticScore:
    """Return the score of a program, also beside syclade's own calls."""
    right = outcome.found & pair.somatic.keys()
    return SomaticScore(
        depth,
        seed,
        program,
        truth=len(pair.somatic),
        right=len(right),
        germline=len(outcome.found & pair.germline),
        false=len(outcome.found - pair.somatic.keys() - pair.germline),
        lowest=min((pair.somatic[allele] for allele in right), default=None),
        shared=len(outcome.found & own),
        calls=len(outcome.found),
        seconds=outcome.seconds,
    )


def _own(pair: Pair) -> _Outcome:
    begun = time.process_time()
    made = call(pair.tumour, pair.reference, normal=pair.normal, threads=1)
    found = {(one.position, one.alternative) for one in made.records if one.passed}
    return _Outcome(found, time.process_time() - begun)


def _lofreq(program: str, pair: Pair, *more: str) -> _Outcome:
    """Return what `lofreq somatic` calls."""
    path = Path(shutil.which(program) or program).resolve()
    with tempfile.TemporaryDirectory() as folder:
        words = [
            str(path), "somatic", "-n", str(pair.normal), "-t", str(pair.tumour), "-f", str(pair.reference),
            "-o", f"{folder}/", *more,
        ]  # fmt: skip
        environment = {**os.environ, "PATH": f"{path.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        before = os.times()
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, timeout=_MOST_SECONDS, check=False, env=environment
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise OptionError(
                f"{program} cannot be run: {problem}", hint="give a LoFreq program"
            ) from problem
        after = os.times()
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()
            raise OptionError(
                f"lofreq somatic failed: {said[-1] if said else done.returncode}",
                hint=f"it ran as {' '.join(words)}",
            )
        return _Outcome(
            _alleles(Path(folder) / "somatic_final.snvs.vcf.gz"),
            after.children_user + after.children_system - before.children_user - before.children_system,
        )


def _alleles(path: Path) -> set[Allele]:
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return {(int(words[1]), words[4]) for words in (line.split("\t") for line in lines if line[:1] != "#")}
