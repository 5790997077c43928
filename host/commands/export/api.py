"""Export as a function: kernels of chains or of tails, or a project for high-level synthesis."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from syclade.host.calls.tails import columns_of, log_tails
from syclade.host.calls.tails.columns import (
    BLOCK,
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
    FILES,
    SPIRV_VERSIONS,
    Chains,
    check_image_kinds,
    compiling_device,
    export_folder,
    exported_module,
    image_name,
    stages_image_name,
)
from syclade.host.commands.export.hls.column_project import (
    COLUMN_FILES,
    COLUMN_FLAVOURS,
    ColumnUnit,
    export_column_unit,
)
from syclade.host.commands.export.hls.flavours import FLAVOURS
from syclade.host.commands.export.hls.project import Design, Vectors, export_project
from syclade.host.commands.export.manifest import ExportedKernel, common_parts, sha256
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device.compile.image import TAILS
from syclade.host.device.compile.image_files import make_image
from syclade.host.device.device import open_queue
from syclade.host.ground.errors import OptionError
from syclade.host.ground.files import check_output, refuse_same, write_files
from syclade.host.ground.limits import require_memory
from syclade.host.ground.options import flag_of
from syclade.host.ground.options.types import DEFAULT_SEED, AnyPath
from syclade.host.ground.values import Array, path_of, whole
from syclade.kernels.ancestor.stage_arguments import IN, INOUT, OUT, StageArgument
from syclade.kernels.arguments import PROBLEM, SCRATCH, SETTING
from syclade.kernels.tails.arguments import PARAMETERS

__all__ = ["TAIL_FILES", "export", "random_columns", "tail_image_name"]

MISSING = 0.1
"""Share of missing values in a simulated test vector."""

KERNEL_CHAINS = 4
"""Default chains of the test vector of kernels."""

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


def export(
    directory: AnyPath,
    matrix: object = None,
    *,
    cells: int | None = None,
    mutations: int | None = None,
    fp_rate: float = 0.01,
    fn_rate: float = 0.2,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    merge_homozygous: bool = False,
    score: str = "max",
    learn_fn: float | None = None,
    learn_fp: float | None = None,
    samples: int | None = None,
    chains: int | None = None,
    steps: int = 1000,
    seed: int = DEFAULT_SEED,
    images: Sequence[str] = (),
    spirv_version: str = SPIRV_VERSIONS[-1],
    tails: bool = False,
    columns: int = 64,
    hls: str | None = None,
    states: int = 6,
    unroll: int = 8,
    block: int = BLOCK,
    force: bool = False,
) -> list[Path]:
    """Write the kernels, or a project for high-level synthesis, to a folder, as `syclade export` does.

    Args:
        directory: the folder; created if needed.
        matrix: matrix of the test vector, as for `infer`; None to simulate one of `cells` x `mutations`.
        cells, mutations: most distinct columns and most mutations that shall fit; those of the matrix by
            default.
        fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous: rates of the test vector, as for `infer`.
        score: max or sum.
        learn_fn, learn_fp: probabilities that a step is a jump of that rate; None for a fixed rate.
        samples: steps between two samples of the test vector, for kernels that record samples with any number
            of steps; None for kernels that do not.
        chains: chains of the test vector; 4 by default, with `hls` twice the states.
        steps: steps of each chain of the test vector.
        seed: seed of the test vector.
        images: kinds of device to compile for, too: cpu, fpga-emu.
        spirv_version: version of the SPIR-V modules: 1.0, 1.1, 1.2, 1.3 or 1.4.
        tails: whether to export the kernels of tails of columns instead (docs/tails.md).
        columns: columns of their test vector.
        hls: opencl, vitis or oneapi, to export a project in C for this compiler instead; with `tails` that of
            a column unit.
        states, unroll: its chain states in flight, and the rows that its loops do at once; with `tails` the
            processing elements.
        block: entries that a column unit has on the chip.
        force: whether existing files may be replaced.

    Returns:
        The paths of the files.

    Raises:
        SycladeError: OptionError, MatrixError, RatesError, DeviceError or OutputError, with what to do.
    """
    folder = path_of("the directory", directory, OptionError)
    if spirv_version not in SPIRV_VERSIONS:
        raise OptionError(f"there is no SPIR-V {spirv_version!r}", hint=f"use {', '.join(SPIRV_VERSIONS)}")
    if hls is not None and hls not in FLAVOURS:
        raise OptionError(f"there is no flavour {hls!r}", hint=f"use {', '.join(FLAVOURS)}")
    if tails and hls is not None:
        return _paths(folder, _column_unit(folder, hls, ColumnUnit(block, unroll), columns, seed, force))
    if tails:
        return _paths(folder, _export_tails(folder, columns, seed, images, spirv_version, force))
    if matrix is None and (cells is None or mutations is None):
        raise OptionError("no size is given", hint="give cells and mutations, or a matrix")
    rates = Rates(fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous)
    if hls is not None:
        if (score, learn_fn, learn_fp, samples) != ("max", None, None, None):
            raise OptionError("the projects for synthesis have the maximum score, fixed rates and no samples")
        counts = (2 * states if chains is None else chains, steps, seed)
        size, design = (cells, mutations), (states, unroll)
        return _paths(folder, _project(folder, hls, matrix, rates, size, design, counts, force))
    if samples is not None:
        samples = whole(f"samples ({flag_of('samples')})", samples, 1, 2**62 - 1)
    of = Chains(score, learn_fn, learn_fp, samples)
    written = (*FILES, *map(image_name, images), *map(stages_image_name, images))
    refuse_same([folder / name for name in written], {"MATRIX": matrix})
    check_output(folder, written, force)
    found = _matrix(matrix, cells, mutations, rates, seed)
    names = export_folder(
        folder,
        found,
        rates,
        cells=cells or found.n_cells,
        mutations=mutations or found.n_mutations,
        of=of,
        chains=KERNEL_CHAINS if chains is None else chains,
        steps=steps,
        seed=seed,
        images=images,
        spirv_version=spirv_version,
        force=force,
    )
    return _paths(folder, names)


def _paths(folder: Path, names: Sequence[str]) -> list[Path]:
    return [folder / name for name in names]


def _column_unit(
    folder: Path, name: str, unit: ColumnUnit, columns: int, seed: int, force: bool
) -> list[str]:
    """Export a column unit for high-level synthesis; return the names of the files."""
    flavour = COLUMN_FLAVOURS[name]
    check_output(folder, (*COLUMN_FILES, *flavour.files), force)
    require_columns(columns)
    return export_column_unit(folder, flavour, unit, random_columns(columns, seed), force)


def _project(
    folder: Path,
    name: str,
    matrix: object,
    rates: Rates,
    size: tuple[int | None, int | None],
    design: tuple[int, int],
    inference: tuple[int, int, int],
    force: bool,
) -> list[str]:
    """Export a project for high-level synthesis; return the names of the files."""
    flavour, vectors = FLAVOURS[name], Vectors(*inference)
    refuse_same([folder / file for file in flavour.all_files], {"MATRIX": matrix})
    check_output(folder, flavour.all_files, force)
    found = _matrix(matrix, *size, rates, vectors.seed)
    capacity = (size[0] or found.n_cells, size[1] or found.n_mutations)
    return export_project(folder, flavour, found, rates, capacity, Design(*design), vectors, force)


def _matrix(matrix: object, cells: int | None, mutations: int | None, rates: Rates, seed: int) -> Matrix:
    """Return the matrix of the test vector: the given one, or a simulated one."""
    if matrix is not None:
        return read_matrix(matrix)
    assert cells is not None
    assert mutations is not None
    zygosity = (rates.fn_rate_hom, rates.hom_rate)
    return simulate(cells, mutations, rates.fp_rate, rates.fn_rate, MISSING, seed, *zygosity).matrix


def _export_tails(
    folder: Path, columns: int, seed: int, images: Sequence[str], spirv_version: str, force: bool
) -> list[str]:
    """Export the kernels of tails with all that runs them elsewhere; return the names of the files."""
    check_image_kinds(images)
    made = [tail_image_name(kernel, kind) for kind in images for kernel in KERNELS]
    check_output(folder, (*TAIL_FILES, *made), force)
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
    write_files(folder, files, force)
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
