"""Join matrices of one tumour: cells of several files under the union of their mutations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.evidence import Evidence, Likelihoods, Reads
from syclade.host.data.input.label_table import SAMPLE
from syclade.host.data.input.left_out import MISSING
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.trees.clones import default_cell_names
from syclade.host.ground.errors import MatrixError

__all__ = ["join", "measured_by"]

Entry = TypeVar("Entry", np.uint8, np.int32, np.float64)


def join(matrices: Sequence[Matrix], samples: Sequence[str]) -> Matrix:
    """Return one matrix with the cells of all; a mutation that a file does not have is missing in its cells.

    Mutations are the same if position and alleles are, or, where one of the matrices has none of these, if
    names are; they keep the order in which the files have them first. Different ones that share a name get
    their places added. Cells are named ``SAMPLE:CELL``, and have their sample as a label, by which `infer`
    compares specimens.

    Args:
        matrices: at least two, with evidence of one kind, or none.
        samples: the name of each, all distinct.

    Raises:
        MatrixError: there are fewer than two matrices, as many names are not given, names are equal, no
            mutation is in two of them, or their evidence differs in kind.
    """
    if len(matrices) < 2 or len(matrices) != len(samples):
        raise MatrixError(
            f"{len(matrices)} matrices and {len(samples)} names of samples were given",
            hint="give at least two matrices, and a name for each",
        )
    twice = [name for name, count in Counter(samples).items() if count > 1]
    if twice:
        raise MatrixError(f"two matrices are of the sample {twice[0]!r}", hint="give distinct names")
    rows, mutations, places = _matched(matrices)
    if len(mutations) == sum(one.n_mutations for one in matrices):
        raise MatrixError(
            "no mutation is in two of the matrices",
            hint="names, or positions and alleles, have to be equal, such as chr1:100:A/C in all files",
        )
    values = np.concatenate(
        [_spread(one.values, at, len(mutations), MISSING) for one, at in zip(matrices, rows, strict=True)],
        axis=1,
    )
    names, labels = [], []
    for one, sample in zip(matrices, samples, strict=True):
        names += [f"{sample}:{cell}" for cell in one.cells or default_cell_names(one.n_cells)]
        labels += [sample] * one.n_cells
    return Matrix(
        np.ascontiguousarray(values),
        mutations,
        " + ".join(one.source for one in matrices),
        cells=tuple(names),
        evidence=_joined_evidence([one.evidence for one in matrices], rows, len(mutations)),
        labels={SAMPLE: tuple(labels)},
        says_homozygous=any(one.says_homozygous for one in matrices),
        places=places,
        frequent=tuple(
            dict.fromkeys(
                mutations[row]
                for one, own in zip(matrices, rows, strict=True)
                for name, row in zip(one.mutations, own.tolist(), strict=True)
                if name in one.frequent
            )
        ),
    )


def measured_by(matrices: Sequence[Matrix]) -> dict[str, int]:
    """Return how many of the matrices have each mutation of `join`, in its order."""
    rows, mutations, _ = _matched(matrices)
    counts = np.bincount(np.concatenate(rows), minlength=len(mutations)).tolist()
    return dict(zip(mutations, counts, strict=True))


def _matched(
    matrices: Sequence[Matrix],
) -> tuple[list[NDArray[np.int64]], tuple[str, ...], dict[str, str]]:
    """Return the row of each matrix's mutations in the joined one, the names there, and their places."""
    names: list[str] = []
    places: list[str] = []
    rows = []
    for one in matrices:
        by_place = {place: at for at, place in enumerate(places) if place}
        by_name = {
            (name, bool(place)): at for at, (name, place) in enumerate(zip(names, places, strict=True))
        }
        own = []
        for name in one.mutations:
            place = one.places.get(name, "").removeprefix("chr")
            if place:
                at = by_place.get(place, by_name.get((name, False)))
            else:
                at = by_name.get((name, False), by_name.get((name, True)))
            if at is None:
                at = len(names)
                names.append(name)
                places.append(place)
            own.append(at)
        rows.append(np.array(own))
    shared = {name for name, count in Counter(names).items() if count > 1}
    full = [
        f"{name} {place}" if name in shared and place else name
        for name, place in zip(names, places, strict=True)
    ]
    return rows, tuple(full), {name: place for name, place in zip(full, places, strict=True) if place}


def _spread(table: NDArray[Entry], rows: NDArray[np.int64], count: int, other: float) -> NDArray[Entry]:
    """Return a table with its rows at other places of `count`, and a value in the rows besides."""
    wide = np.full((count, table.shape[1]), other, dtype=table.dtype)
    wide[rows] = table
    return wide


def _joined_evidence(
    parts: Sequence[Evidence | None], rows: Sequence[NDArray[np.int64]], count: int
) -> Evidence | None:
    """Return the evidence of all cells; nothing is known of mutations that a file does not have."""
    kinds = {type(part) for part in parts}
    if len(kinds) > 1:
        raise MatrixError("one matrix has reads or likelihoods, and another has not", hint="read all alike")

    def joined(tables: Sequence[NDArray[Entry]]) -> NDArray[Entry]:
        wide = [_spread(table, at, count, 0) for table, at in zip(tables, rows, strict=True)]
        return np.concatenate(wide, axis=1)

    reads = [part for part in parts if isinstance(part, Reads)]
    if reads:
        return Reads(joined([one.alternate for one in reads]), joined([one.total for one in reads]))
    likelihoods = [part for part in parts if isinstance(part, Likelihoods)]
    return Likelihoods(joined([one.log_odds for one in likelihoods])) if likelihoods else None
