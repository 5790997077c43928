"""Readers in a separate process: the caller gets their results and errors, and a report of crashes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syclade.host.data.input.source import read_in_subprocess
from syclade.host.ground.errors import MatrixError, OptionError


def double(path: Path, number: int) -> tuple[Path, Any]:
    print("what a library prints is no answer")
    os.write(1, b"nor is this")
    return path, np.full(10**6, 2 * number)


def refuse(path: Path) -> None:
    raise MatrixError("no good", path=str(path), line=3, hint="mend it")


def want(path: Path) -> None:
    raise OptionError("not here")


def crash(path: Path) -> None:
    os.abort()


def fail(path: Path) -> None:
    raise RuntimeError("not foreseen")


def hang(path: Path) -> None:
    time.sleep(600)


def devour(path: Path) -> Any:
    return np.ones(2**31, np.float64)


def test_what_it_returns(tmp_path: Path) -> None:
    path, numbers = read_in_subprocess(double, tmp_path, 21)
    assert path == tmp_path
    assert (numbers == 42).all()


def test_what_it_raises(tmp_path: Path) -> None:
    with pytest.raises(MatrixError) as caught:
        read_in_subprocess(refuse, tmp_path)
    assert str(caught.value) == f"{tmp_path}:3: no good\nhint: mend it"
    with pytest.raises(OptionError, match="not here"):
        read_in_subprocess(want, tmp_path)


@pytest.mark.parametrize(("reader", "words"), [(crash, "crashed: "), (fail, "RuntimeError: not foreseen")])
def test_it_crashes(tmp_path: Path, reader: Any, words: str) -> None:
    with pytest.raises(MatrixError, match=words) as caught:
        read_in_subprocess(reader, tmp_path)
    assert "is the file whole" in str(caught.value.hint)


def test_it_does_not_end(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match="did not end within 1 s"):
        read_in_subprocess(hang, tmp_path, seconds=1.0)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not heed the bound")
def test_it_needs_too_much(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match="Unable to allocate"):
        read_in_subprocess(devour, tmp_path)
