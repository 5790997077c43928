"""The study of specimens: its verdict follows from intervals, probabilities of growth and the control."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from syclade.quality.studies.specimens.api import specimen_study
from syclade.quality.studies.specimens.result import OfInput, SpecimensResult

CLONES = 200


def made(shares: str | float, *, right: float, sure: bool = False) -> OfInput:
    """Return an input of which a part of the intervals contain the truth.

    Args:
        shares: as of the setting.
        right: that part.
        sure: whether growth is stated with too high a probability.
    """
    generator = np.random.Generator(np.random.PCG64(1))
    true = generator.dirichlet(np.ones(CLONES), 2)
    inside = np.arange(CLONES) < right * CLONES
    low = np.where(inside, 0.0, 2.0) * np.ones((2, 1))
    grew = np.where(true[1] > true[0], 0.9, 0.1)
    grew[generator.permutation(CLONES)[:20]] = 0.5
    wrong = generator.permutation(CLONES)[:20]
    grew[wrong] = 1.0 - grew[wrong]
    setting = {"mutations": 1, "per_branch": 1, "missing": 0.0, "shares": shares, "seed": 1}
    control = np.array([np.full((2, CLONES), 1.0), np.full((2, CLONES), 2.0)])
    if sure:
        grew = np.where(grew > 0.5, 0.99, 0.01)
    return OfInput(setting, true, low, low + 1.0, control, grew, enough=True)


def test_verdict() -> None:
    good = SpecimensResult((made("zipf", right=0.9), made(1.0, right=0.9)), "native", 1, 0.0)
    assert good.holds
    assert good.coverage() == pytest.approx(0.9)
    assert good.coverage(control=True) == 0.0
    assert sum(one.clones for one in good.growth(drawn=True)) == CLONES
    assert "as expected" in good.markdown()
    for wrong in (made(1.0, right=0.7), made(1.0, right=0.9, sure=True)):
        assert not replace(good, inputs=(good.inputs[0], wrong)).holds
    assert not replace(good, inputs=(made("zipf", right=1.0), good.inputs[1])).holds
    no_control = [replace(one, control=np.array([one.low, one.high])) for one in good.inputs]
    assert not replace(good, inputs=tuple(no_control)).holds


@pytest.mark.verification
def test_an_input() -> None:
    """One input of the study is inferred and compared."""
    found = specimen_study(inputs=1, device="native")
    (one,) = found.inputs
    assert one.true.shape == one.low.shape == (2, len(one.grew))
    np.testing.assert_allclose(one.true.sum(axis=1), 1.0)
    assert found.coverage() > found.coverage(control=True)
    assert found.to_dict()["results"][0]["seed"] == 1
