"""Searches with support: trees that chains sample after the search."""

from __future__ import annotations

from tests.golden.run import infer

SUPPORT = (
    infer("support-small", "small", "--attach", never=("numpy",), rounded=True),
    infer("support-twos", "twos", "--support quick --seed 2", never=("numpy",), rounded=True),
    infer("support-dropout", "tiny", "--dropout per-mutation", never=("numpy",), rounded=True),
    infer("support-doublets", "tiny", "--doublets 0.1", never=("numpy",), rounded=True),
)
