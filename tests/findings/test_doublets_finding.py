"""Warning of doublets that no tree could show."""

from __future__ import annotations

import numpy as np

from syclade.host.data.model.doublets import Doublets
from syclade.host.findings.doublets import DoubletsFinding


def finding(relevant_rate: float, probability: float = 0.16) -> DoubletsFinding:
    """Return a finding of 100 cells with equal probabilities of being doublets."""
    none = np.zeros(100, dtype=np.int32)
    calls = Doublets(0.1, np.full(100, probability), none, none, relevant_rate)
    return DoubletsFinding(calls, tuple(map(str, range(100))), ["A", "root"], "given")


def test_expected_doublets_of_one_lineage_are_no_finding() -> None:
    """In a chain, no doublet is of two branches; where none is expected, nothing is said."""
    (words,) = finding(0.0).warnings
    assert words.startswith("hardly any of the 16.0 expected doublets ")
    section = finding(0.0).section()
    assert section is not None
    assert len(section.warnings) == 1
    assert not finding(0.05).warnings
    assert not finding(0.0, 0.001).warnings
