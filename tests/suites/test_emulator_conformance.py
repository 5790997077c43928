"""A whole inference on the FPGA emulator has the bits of the CPU device, for every encoding."""

from __future__ import annotations

import numpy as np
import pytest

import syclade
from syclade.host.chains.encodings import ENCODINGS
from syclade.host.data.model.simulate import simulate
from tests.support.did_all import assert_did_all

SETTINGS = {"fp_rate": 0.01, "fn_rate": 0.2, "chains": 4, "steps": 1500, "seed": 2024}


@pytest.mark.sycl
@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("cells", "mutations"), [(64, 63), (96, 95), (50, 41), (128, 127)])
def test_the_emulator_gives_the_bits_of_the_cpu(cells: int, mutations: int, encoding: str) -> None:
    matrix = simulate(cells, mutations, 0.01, 0.2, 0.1, 7).matrix
    cpu, emulator = (
        syclade.infer(matrix, device=device, encoding=encoding, **SETTINGS)  # type: ignore[arg-type]
        for device in ("cpu", "fpga-emu")
    )
    assert_did_all(cpu, "cpu")
    assert_did_all(emulator, "fpga-emu")
    assert "emulat" in emulator.work[0].executor.name.lower()
    assert "emulat" not in cpu.work[0].executor.name.lower()
    np.testing.assert_array_equal(emulator.parents, cpu.parents)
    np.testing.assert_array_equal(emulator.chain_log_likelihoods, cpu.chain_log_likelihoods)
    assert emulator.log_likelihood == cpu.log_likelihood
    assert emulator.moves == cpu.moves  # every proposal and every acceptance
    assert emulator.encoding == cpu.encoding == encoding
    assert sum(accepted for _, accepted in cpu.moves.values()) > 0
