"""Changes of clones, and of groups of clones, by a slow definition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from syclade.host.findings.joint_shares import JointShare
from syclade.host.findings.specimen_changes import changes_between


def labels_of(names: tuple[str, ...], times: tuple[str, ...] = ()) -> Any:
    """Return labels with specimens, and time points."""
    return SimpleNamespace(specimens=names, times=times)


@pytest.mark.parametrize("times", [(), ("1", "2", "2")])
def test_changes_are_those_of_all_draws(times: tuple[str, ...]) -> None:
    shares = np.random.default_rng(4).dirichlet(np.ones(6), (300, 3))
    joint = [[JointShare((1, 2), 0, 0, 0)], [JointShare((2, 4), 0, 0, 0), JointShare((0, 5), 0, 0, 0)], []]
    names = ("P", "Q", "R")
    found = list(changes_between(shares, labels_of(names, times), joint))
    pairs = [((0,), (1, 2))] if times else [((0,), (1,)), ((0,), (2,)), ((1,), (2,))]
    assert len(found) == len(pairs)
    expected = {"PQ": ((0, 5), (1, 2, 4)), "PR": ((1, 2),), "QR": ((0, 5), (2, 4)), "12": ((0, 5), (1, 2, 4))}
    for one, (before, after) in zip(found, pairs, strict=True):
        assert one.groups == expected[one.first + one.second]
        sums = [(clone,) for clone in range(6)] + list(one.groups)
        for at, clones in enumerate(sums):
            draws = [
                sum(draw[s, c] for s in after for c in clones) / len(after)
                - sum(draw[s, c] for s in before for c in clones) / len(before)
                for draw in shares
            ]
            own, place = (one.own, at) if at < 6 else (one.together, at - 6)
            assert own.mean[place] == pytest.approx(np.mean(draws))
            assert own.grew[place] == pytest.approx(np.mean([draw > 0 for draw in draws]))
            assert own.low[place] == pytest.approx(np.quantile(draws, 0.05))
            assert own.high[place] == pytest.approx(np.quantile(draws, 0.95))
        grouped = {clone for group in one.groups for clone in group}
        assert one.identifiable.tolist() == [clone not in grouped for clone in range(6)]


def test_sure_changes_of_groups_count_as_moved() -> None:
    shares = np.zeros((10, 2, 3))
    shares[:, 0], shares[:, 1] = (0.1, 0.4, 0.5), (0.7, 0.1, 0.2)
    (one,) = changes_between(shares, labels_of(("P", "Q")), [[JointShare((1, 2), 0, 0, 0)], []])
    assert one.sure.tolist() == [0]
    assert one.moved == pytest.approx(0.6 + 0.6)
    (alone,) = changes_between(shares, labels_of(("P", "Q")), [[], []])
    assert alone.groups == ()
    assert alone.moved == pytest.approx(0.6 + 0.3 + 0.3)
