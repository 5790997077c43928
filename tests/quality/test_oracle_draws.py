"""Philox against its published vectors, and the proposals that a step's words make."""

from collections import Counter
from fractions import Fraction

import pytest
from scipy import stats

from syclade.quality.oracle import draws, enumeration, proposal, trees
from syclade.quality.oracle.proposal import Cuts, Kind, Move

ALL_ONES = 0xFFFFFFFF
EVEN_CUTS = Cuts(1 << 14, 1 << 15)  # a quarter, a quarter, a half


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((ALL_ONES,) * 4, (ALL_ONES,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_known_answers(counter: draws.Words4, key: tuple[int, int], expected: str) -> None:
    """Check the kat_vectors of Random123, philox4x32 with 10 rounds."""
    assert " ".join(f"{word:08x}" for word in draws.philox(counter, key)) == expected


def test_step_words_place_seed_step_and_chain() -> None:
    seed, chain, step = 0x0123456789ABCDEF, 7, 0xFEDCBA9876543210
    expected = draws.philox((0x76543210, 0xFEDCBA98, 7, 0), (0x89ABCDEF, 0x01234567))
    assert draws.step_words(seed, chain, step) == expected


@pytest.mark.parametrize(
    ("seed", "chain", "step"), [(1 << 64, 0, 0), (0, 1 << 32, 0), (0, 0, 1 << 64), (-1, 0, 0)]
)
def test_numbers_that_do_not_fit_are_refused(seed: int, chain: int, step: int) -> None:
    with pytest.raises(ValueError, match="bits"):
        draws.step_words(seed, chain, step)


def test_move_cuts() -> None:
    assert proposal.move_cuts(0.55, 0.4, 0.05) == (36045, 62259)
    assert proposal.move_cuts(1, 0, 0) == (65536, 65536)
    assert proposal.move_cuts(2, 2, 4) == (16384, 32768)
    for weights in [(-1, 1, 1), (0, 0, 0)]:
        with pytest.raises(ValueError, match="not probabilities"):
            proposal.move_cuts(*weights)


# root 4 - 0 - 1, 4 - 2 - 3
TWO_LINEAGES = (4, 0, 4, 2, 4)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # v = 0: candidate 4 (the last fifth) is taken directly.
        ((0, 0, ALL_ONES, 0), Move(Kind.PRUNE, 0, -1, 4)),
        # Candidate 1 is below 0; extra = 0 selects the first of the non-descendants 2, 3, 4.
        ((0, 0, 1 << 30, 0), Move(Kind.PRUNE, 0, -1, 2)),
        # extra = 0xFFFF0000 selects the last.
        ((0x0000FFFF, 0, 1 << 30, 0), Move(Kind.PRUNE, 0, -1, 4)),
        # Three choices have a boundary at extra = 0x5555_5555.5: the low half, from word 1, decides here.
        ((0x00005555, 0x5555 << 14, 1 << 30, 0), Move(Kind.PRUNE, 0, -1, 2)),
        ((0x00005555, 0x5556 << 14, 1 << 30, 0), Move(Kind.PRUNE, 0, -1, 3)),
        # w = 0 is less than v = 1 and stays; w = 1 becomes 2.
        ((0x40000000, 1 << 30, 0, 0), Move(Kind.SWAP_LABELS, 1, 0, -1)),
        ((0x7FFF0000, 1 << 30, 0x55555556, 0), Move(Kind.SWAP_LABELS, 1, 2, -1)),
        ((0x80000000, 0, ALL_ONES, 0), Move(Kind.SWAP_UNRELATED, 0, 3, -1)),
        # v = 0 and w = 1 are related: 1 is the lower one and is its own only descendant.
        ((0x80000000, 0, 0, 0), Move(Kind.SWAP_RELATED, 1, 0, 1)),
        ((0xFFFFFFFF, 1 << 30, 0, 0), Move(Kind.SWAP_RELATED, 1, 0, 1)),
    ],
)
def test_words_of_known_moves(words: draws.Words4, expected: Move) -> None:
    assert proposal.propose(words, TWO_LINEAGES, EVEN_CUTS) == expected


def test_one_mutation_knows_no_swap() -> None:
    null = proposal.propose((ALL_ONES, 0, 0, 0), (1, 1), EVEN_CUTS)
    assert null.kind is Kind.NULL
    assert proposal.apply(null, (1, 1)) == (1, 1)
    assert proposal.propose((0, ALL_ONES, 0, 0), (1, 1), EVEN_CUTS) == Move(Kind.PRUNE, 0, -1, 1)


@pytest.mark.statistical
@pytest.mark.parametrize("tree", [(3, 0, 1, 3), (4, 0, 4, 2, 4), (4, 0, 1, 2, 4), (5, 0, 0, 1, 5, 5)])
def test_words_propose_with_the_enumerated_probabilities(tree: trees.ParentVector) -> None:
    """Check that t is uniform over the non-descendants of v, or over the descendants of the lower node."""
    probabilities = enumeration.move_probabilities(EVEN_CUTS)
    expected = enumeration.proposal_probabilities(list(enumeration.proposals(tree, probabilities)))
    assert sum(expected.values()) == 1
    size = 10_000
    seen: Counter[trees.ParentVector] = Counter()
    for step in range(size):
        move = proposal.propose(draws.step_words(2016, 0, step), tree, EVEN_CUTS)
        seen[proposal.apply(move, tree)] += 1
    assert set(seen) <= set(expected)
    observed = [seen[target] for target in expected]
    assert stats.chisquare(observed, [float(size * p) for p in expected.values()]).pvalue > 0.001


@pytest.mark.statistical
def test_new_parent_is_uniform_on_a_long_path() -> None:
    """All candidates but the root and the nodes above fail, so the second try decides almost alone."""
    n, size = 12, 10_000
    path = (*range(1, n + 1), n)  # 0 is the lowest mutation, 11 the uppermost
    seen: Counter[tuple[int, int]] = Counter()
    for step in range(size):
        move = proposal.propose(draws.step_words(5, 1, step), path, Cuts(65536, 65536))
        seen[move.v, move.t] += 1
    cells = [(v, t) for v in range(n) for t in range(v + 1, n + 1)]
    assert set(seen) <= set(cells)
    expected = [float(size * Fraction(1, n * (n - v))) for v, _ in cells]
    assert stats.chisquare([seen[cell] for cell in cells], expected).pvalue > 0.001
