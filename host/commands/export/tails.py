"""Export of the kernels of tails: SPIR-V, a manifest, columns with their expected tails, and a loader."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from syclade.host.calls.tails import columns_of, log_tails
from syclade.host.calls.tails.columns import (
    KERNELS,
    Columns,
    Reduced,
    Sizes,
    reduce_columns,
    sizes_of,
    tail_arguments,
    tail_kernel,
)
from syclade.host.calls.tails.run import fields_of, numpy_engine
from syclade.host.commands.export import loader
from syclade.host.commands.export.folder import (
    SPIRV_VERSIONS,
    check_image_kinds,
    compiling_device,
    exported_module,
)
from syclade.host.commands.export.manifest import ExportedKernel, common_parts, sha256
from syclade.host.device.compile.image import TAILS
from syclade.host.device.compile.image_files import make_image
from syclade.host.device.device import open_queue
from syclade.host.ground.files import write_files
from syclade.host.ground.limits import require_memory
from syclade.host.ground.values import Array
from syclade.kernels.ancestor.stage_arguments import IN, INOUT, OUT, StageArgument
from syclade.kernels.arguments import PROBLEM, SCRATCH, SETTING
from syclade.kernels.tails.arguments import PARAMETERS

__all__ = ["TAIL_FILES", "export_tails", "random_columns", "require_columns", "tail_image_name"]

TAIL_FILES = (
    *(f"tails_{name}.spv" for name in KERNELS), "problem.npz", "load_design.py", "manifest.json",
)  # fmt: skip
"""Files of every export of tails."""

_MEANING = {
    "grouped": "tails by tilting; windows of the binomial distributions of groups, convolved",
    "tilted": "tails by tilting; one trial after another, in a band around the mean",
    "blocked": "tails by Algorithm 1 in log space, in blocks of `room` entries",
}
_SYMBOLS = {
    "slots": "columns that are computed at the same time, free to choose at run time",
    "groups": "most groups of equal probabilities of a column, free to choose at run time",
    "trials": "most trials of a column, free to choose at run time",
    "room": "entries of a row over k: of two windows, or of a block; free to choose at run time",
}


_BYTES = 300
"""Bytes of a random column, at least."""


def export_tails(
    directory: str | os.PathLike[str],
    *,
    columns: int = 64,
    seed: int = 1,
    images: Sequence[str] = (),
    spirv_version: str = SPIRV_VERSIONS[-1],
    force: bool = False,
) -> list[str]:
    """Export the kernels of tails with all that runs them elsewhere.

    Args:
        directory: created if needed.
        columns: number of random columns of the test vector.
        seed: seed of their random numbers.
        images: kinds of device to compile the kernels for: cpu, fpga-emu.
        spirv_version: as for `export_folder`.
        force: whether existing files may be replaced.

    Returns:
        The names of the files.

    Raises:
        OptionError: there is no such kind of image.
        DeviceError: there is no SYCL device, or it cannot compile.
        OutputError: the files cannot be written.
    """
    check_image_kinds(images)
    require_columns(columns)
    queue = open_queue(compiling_device("cpu").filter)
    kernels = [_exported(name) for name in KERNELS]
    modules = [exported_module(queue, kernel, spirv_version) for kernel in kernels]
    vector = random_columns(columns, seed)
    content, sizes = _vector_file(vector)
    pairs = list(zip(kernels, modules, strict=True))
    others = {"load_design.py": Path(str(loader.__file__)).read_bytes(), **dict(_images(images, pairs))}
    manifest = common_parts(pairs, {}, others) | {
        "symbols": _SYMBOLS,
        "parameters": list(PARAMETERS),
        "problem": {
            "file": "problem.npz",
            "sha256": sha256(content),
            "columns": columns,
            "seed": seed,
            "sizes": sizes,
            "expected": {name: _expected(vector, name) for name in KERNELS},
        },
    }
    files: dict[str, str | bytes] = {kernel.file: module for kernel, module in pairs}
    files |= {"problem.npz": content, **others, "manifest.json": json.dumps(manifest, indent=2) + "\n"}
    write_files(directory, files, force)
    return list(files)


def require_columns(number: int) -> None:
    """Raise an `OptionError` if so many random columns do not fit in memory."""
    require_memory(_BYTES * number, f"{number} columns", "use fewer columns")


def random_columns(number: int, seed: int) -> Columns:
    """Return random columns with base qualities of 10 to 40 and K of 1 to some times the expected errors."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        qualities = rng.choice(np.arange(10, 41), int(rng.integers(1, 21)), replace=False)
        probabilities = np.sort(10.0 ** (qualities / -10.0))
        counts = rng.integers(1, 80, len(probabilities))
        expected = float((probabilities * counts).sum())
        made.append((probabilities, counts, 1 + int(min(rng.uniform(0.5, 4) * expected, counts.sum() - 1))))
    return columns_of(made)


def tail_image_name(kernel: str, kind: str) -> str:
    """Return the file name of the image of a kernel for a kind of device."""
    return f"tails_{kernel}.{kind}.image"


def _images(
    kinds: Sequence[str], kernels: Sequence[tuple[ExportedKernel, bytes]]
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of an image of each kernel for each kind of device."""
    for kind in kinds:
        queue = open_queue(compiling_device(kind).filter)
        for name, (exported, module) in zip(KERNELS, kernels, strict=True):
            yield tail_image_name(name, kind), make_image(queue, kind, TAILS, exported.kernel, module)


def _exported(name: str) -> ExportedKernel:
    """Return a kernel of tails with the directions of its arguments."""
    directions = {PROBLEM: IN, SETTING: IN, SCRATCH: OUT}
    arguments = tuple(
        StageArgument(argument, directions.get(argument.role, INOUT)) for argument in tail_arguments(name)
    )
    return ExportedKernel(f"tails_{name}", tail_kernel(name), arguments, _MEANING[name])


def _vector_file(columns: Columns) -> tuple[bytes, dict[str, dict[str, int]]]:
    """Return an npz file of all arguments that need values, `kernel.argument`, and each kernel's sizes."""
    reduced = reduce_columns(columns)
    arrays: dict[str, Array] = {}
    sizes = {}
    for name in KERNELS:
        made = sizes_of(name, reduced)
        arrays |= {f"{name}.{argument}": values for argument, values in _values(name, reduced, made).items()}
        sizes[name] = made.symbols(len(reduced.number))
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue(), sizes


def _values(name: str, reduced: Reduced, sizes: Sizes) -> dict[str, Array]:
    """Return the arguments of one launch with all columns, by name."""
    slots = len(reduced.number)
    engine, _ = numpy_engine(name, sizes, slots)
    fields = fields_of(reduced, np.arange(slots), engine, name)
    engine.close()
    return fields | {"parameters": np.array([sizes.groups, sizes.trials, sizes.room])}


def _expected(columns: Columns, name: str) -> list[float]:
    """Return the tails by numpy, which shares nothing with the exported kernels."""
    found: list[float] = log_tails(columns, device="numpy", kernel=name).log_tails.tolist()
    return found
