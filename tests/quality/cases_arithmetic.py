"""Simulated inputs of the tests of arithmetic."""

from __future__ import annotations

from syclade.host.data.model.simulate import Simulation, simulate


def simulated(mutations: int, cells: int, seed: int) -> Simulation:
    return simulate(cells, mutations, 1e-3, 0.2, 0.2, seed, doublets=0.25)
