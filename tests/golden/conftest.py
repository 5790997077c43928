"""The inputs of the golden runs, made once for a session."""

import pytest

from tests.golden.inputs import Inputs


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """Return the matrices, which are simulated when they are first asked for."""
    return Inputs(tmp_path_factory.mktemp("golden-inputs"))
