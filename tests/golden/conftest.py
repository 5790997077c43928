"""Inputs of the golden runs, made once per session."""

import pytest

from tests.golden.inputs import Inputs


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """Return the inputs, which are simulated on first use."""
    return Inputs(tmp_path_factory.mktemp("golden-inputs"))
