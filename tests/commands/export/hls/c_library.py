"""C functions of a program, compiled by the system's compiler and called from Python."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syclade.host.commands.export.hls.program import Function, Program
from syclade.host.commands.export.hls.values import Number, Record

TYPES = {
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint64": ctypes.c_uint64,
    "float64": ctypes.c_double,
    "bool": ctypes.c_bool,
}
HEAD = """
#include <stdbool.h>
#include <stdint.h>
typedef int32_t i32;
typedef int64_t i64;
typedef uint64_t u64;
typedef double f64;
#define TRIP() (trips++)
#define ITERATION(loop, variable, unrolled)
static u64 trips;
"""

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")


class Library:
    """Functions of a program.

    Args:
        program: all its functions can be called.
        sizes: values of the sizes' names.
        folder: for the compiler's files.
    """

    def __init__(self, program: Program, sizes: Mapping[str, int], folder: Path) -> None:
        defines = "".join(f"#define {name} {value}\n" for name, value in sizes.items())
        text = program.text().replace("\nstatic ", "\n")
        (folder / "program.c").write_text(HEAD + defines + text, encoding="utf-8")
        self.program = program
        flags = ["-std=c99", "-O1", "-Wall", "-Werror", "-Wno-unused", "-shared", "-fPIC", "-o", "program.so"]
        made = subprocess.run(
            ["gcc", *flags, "program.c"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr[:2000]
        self._loaded = ctypes.CDLL(str(folder / "program.so"))

    def call(self, function: Function, leaves: Sequence[Any]) -> Any:
        """Return the result of a function for the leaves of its arguments: numpy's numbers and arrays."""
        called = self._loaded[function.name]
        called.restype = _type_of(function)
        given = [leaf for leaf, used in zip(leaves, function.used, strict=True) if used]
        result = called(*(_as_c(leaf) for leaf in given))
        if isinstance(function.result, Record):
            return tuple(getattr(result, name) for name in function.result.names)
        return result


def _as_c(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return leaf.ctypes.data_as(ctypes.c_void_p)
    return TYPES[leaf.dtype.name](leaf.item())


def _type_of(function: Function) -> Any:
    result = function.result
    if isinstance(result, Number):
        return TYPES[result.dtype]
    if not isinstance(result, Record):
        return None
    fields = [(name, TYPES[item.dtype]) for name, item in zip(result.names, result.items, strict=True)]
    return type("Result", (ctypes.Structure,), {"_fields_": fields})
