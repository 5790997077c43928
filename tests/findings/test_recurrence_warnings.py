"""Warnings of tests of recurrences: what their factors leave out."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.data.model.recurrence import Recurrence
from syclade.host.findings import recurrences
from syclade.host.findings.recurrences import Recurrences, RecurrencesFinding

PARENTS = np.zeros(4, dtype=np.int32)


def outcome(mutation: str, gain: float, factor: float) -> recurrences.Tested:
    found = Recurrence(mutation, "recurrence", 0, 2, -100.0, gain)
    return recurrences.Tested(found, PARENTS, -100.0 + gain, factor, 0.1)


def finding(
    *tests: recurrences.Tested, accepted: tuple[int, ...] = (), doublets: bool = False
) -> RecurrencesFinding:
    return RecurrencesFinding(None, Recurrences(tests, 4, 1000, accepted=accepted), doublets=doublets)


def test_a_large_gain_without_evidence_is_named() -> None:
    (said,) = finding(
        outcome("A", 15.1, 6.6), outcome("B", 17.0, -0.5), outcome("C", 3.0, -2.0), accepted=(0,)
    ).warnings
    assert said.startswith(
        "1 mutation has a large gain without evidence (gain, log Bayes factor): B (17.0, -0.50);"
    )
    assert not finding(outcome("A", 15.1, 6.6), outcome("C", 9.0, -2.0), accepted=(0,)).warnings


@pytest.mark.parametrize(("doublets", "accepted"), [(True, (0,)), (True, ()), (False, (0,))])
def test_accepted_mutations_are_doubtful_with_doublets(doublets: bool, accepted: tuple[int, ...]) -> None:
    found = finding(outcome("A", 8.0, 6.6), accepted=accepted, doublets=doublets).warnings
    assert len(found) == (doublets and bool(accepted))
