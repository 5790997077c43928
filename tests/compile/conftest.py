"""Tests of compilers compile as the program does."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _compile_here(compile_here: None) -> None:
    """In this process."""
