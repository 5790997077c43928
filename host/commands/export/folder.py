"""Write the folder of an export: SPIR-V modules, a manifest, a loader and a test vector."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.scores.score import score_named
from syclade.host.chains.state import bytes_of_states, every
from syclade.host.commands.export import loader
from syclade.host.commands.export.manifest import (
    STAGES,
    ExportedKernel,
    Vector,
    describe_vector,
    exported_kernels,
    make_manifest,
    symbol_values,
    vector_file,
)
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.problem import Problem, make_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.device.choice import choose_device
from syclade.host.device.compile.image_files import IMAGE_KINDS, make_image, make_stages_image
from syclade.host.device.compile.program import spirv_of
from syclade.host.device.device import Device, open_queue
from syclade.host.device.workarounds.compiler import with_listed_variables, without_stray_variables
from syclade.host.ground.errors import DeviceError, OptionError
from syclade.host.ground.files import write_files
from syclade.host.ground.limits import require_memory
from syclade.host.ground.options import flag_of
from syclade.host.ground.packages import install_command
from syclade.host.ground.spirv import header, instructions, module_of, rename_entry_point
from syclade.kernels.target.sycl_traits import TRAITS

if TYPE_CHECKING:
    from dpctl import SyclQueue

__all__ = [
    "FILES",
    "SCORES",
    "SPIRV_VERSIONS",
    "Chains",
    "check_image_kinds",
    "compiling_device",
    "export_folder",
    "exported_module",
    "image_name",
    "stages_image_name",
]


SPIRV_VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")
"""Versions of SPIR-V that can be exported; the last is what the compiler writes."""

EVENTS = 4096
"""Most samples of a chain of the test vector, and one more."""

_OTHERS = ("problem.npz", "load_design.py", "manifest.json")

FILES = ("chain_steps.spv", *(f"{name}.spv" for name in STAGES), *_OTHERS)
"""Files of an export; images come in addition."""


@dataclass(frozen=True)
class Chains:
    """Chains that the exported kernel runs.

    Attributes:
        score: max or sum.
        learn_fn, learn_fp: probabilities that a step is a jump of that rate; None for a fixed rate.
        samples: steps between two samples in the test vector, for kernels that record samples; None for none.
    """

    score: str = "max"
    learn_fn: float | None = None
    learn_fp: float | None = None
    samples: int | None = None

    def plan(self, matrix: Matrix, rates: Rates, steps: int) -> Plan:
        """Return the plan of the chains for a matrix; each chain has room for the samples of so many steps.

        Raises:
            OptionError: there is no such score, the probabilities leave no steps for the tree, or the test
                vector has too many samples.
        """
        if self.score not in SCORES:
            raise OptionError(
                f"no kernel of the score {self.score!r} is exported", hint=f"use {' or '.join(SCORES)}"
            )
        model = make_rate_model(rates, learn_fn=self.learn_fn, learn_fp=self.learn_fp)
        problem = make_problem(matrix, rates, octaves=self.score == "sum", model=model)
        score = score_named(self.score, problem)
        if self.samples is None:
            return make_plan(problem, score=score)
        count = steps // self.samples + 1
        if count > EVENTS:
            raise OptionError(
                f"the test vector has {count - 1} samples of a chain, and room for {EVENTS - 1}",
                hint=f"give a larger {flag_of('samples')}, or fewer {flag_of('steps')}",
            )
        return make_plan(problem, score=score, recorders=(every(self.samples),), events=count)


SCORES = ("max", "sum")
"""Scores whose kernels are exported."""


def image_name(kind: str) -> str:
    """Return the file name of the chain-step kernel's image for a kind of device."""
    return f"chain_steps.{kind}.image"


def stages_image_name(kind: str) -> str:
    """Return the file name of the stages' image for a kind of device."""
    return f"stages.{kind}.image"


def export_folder(
    directory: str | os.PathLike[str],
    matrix: Matrix,
    rates: Rates,
    *,
    cells: int,
    mutations: int,
    of: Chains = Chains(),
    chains: int = 4,
    steps: int = 1000,
    seed: int = 1,
    images: Sequence[str] = (),
    spirv_version: str = SPIRV_VERSIONS[-1],
    force: bool = False,
) -> list[str]:
    """Export the kernels of the ancestor-matrix pipeline for one capacity, with all that runs them elsewhere.

    Args:
        directory: created if needed.
        matrix: matrix of the test vector; at most `mutations` x `cells`.
        rates: rates of the test vector.
        cells: capacity in distinct columns.
        mutations: capacity in mutations.
        of: score and learned rates of the chains.
        chains, steps, seed: of the test vector.
        images: kinds of device to compile the kernels for: cpu, fpga-emu.
        spirv_version: version of the SPIR-V modules, one of `SPIRV_VERSIONS`.
        force: whether existing files may be replaced.

    Returns:
        The names of the files.

    Raises:
        OptionError: the matrix does not fit, or there is no such kind of image.
        DeviceError: there is no SYCL device, or it cannot compile.
        OutputError: the files cannot be written.
    """
    plan = of.plan(matrix, rates, steps)
    problem = plan.problem
    _check(problem, cells, mutations, images)
    require_memory(bytes_of_states(chains, mutations), f"{chains} chains", f"use fewer {flag_of('chains')}")
    device = compiling_device("cpu")
    queue = open_queue(device.filter)
    capacity = AncestorEncoding.capacity(TRAITS, mutations + 1, cells, len(problem.values))
    encoding = AncestorEncoding(problem, TRAITS, capacity)
    kernels = exported_kernels(plan, encoding)
    modules = [exported_module(queue, kernel, spirv_version) for kernel in kernels]
    vector = Vector(plan, matrix.n_cells, chains, steps, seed)
    content = vector_file(vector, encoding)
    others = {
        "load_design.py": Path(str(loader.__file__)).read_bytes(),
        **_images(images, encoding, kernels, modules),
    }
    sizes = {"cells": cells, "mutations": mutations}
    pairs = list(zip(kernels, modules, strict=True))
    values = symbol_values(plan, encoding, mutations)
    manifest = make_manifest(pairs, sizes, values, describe_vector(vector, content, device), others)
    files: dict[str, str | bytes] = {kernel.file: module for kernel, module in pairs}
    files |= {"problem.npz": content, **others, "manifest.json": json.dumps(manifest, indent=2) + "\n"}
    write_files(directory, files, force)
    return list(files)


def _check(problem: Problem, cells: int, mutations: int, images: Sequence[str]) -> None:
    columns = problem.columns
    if problem.mutations > mutations or columns > cells:
        raise OptionError(
            f"the matrix has {problem.mutations} mutations and {columns} distinct columns, more than fit in "
            f"{mutations} and {cells}",
            hint="export for more mutations and cells, or for those of the matrix",
        )
    check_image_kinds(images)


def check_image_kinds(kinds: Sequence[str]) -> None:
    """Check that images can be made for kinds of device.

    Raises:
        OptionError: there is no such kind of image.
    """
    for kind in kinds:
        if kind not in IMAGE_KINDS:
            raise OptionError(f"no image can be made for {kind}", hint=f"use {' or '.join(IMAGE_KINDS)}")


def compiling_device(kind: str) -> Device:
    """Return a SYCL device of a kind.

    Raises:
        DeviceError: no such device can run.
    """
    try:
        return choose_device(kind)
    except DeviceError as error:
        raise DeviceError(f"an export needs the SYCL stack: {error.message}", hint=error.hint) from error


def _images(
    kinds: Sequence[str],
    encoding: AncestorEncoding,
    kernels: Sequence[ExportedKernel],
    modules: Sequence[bytes],
) -> dict[str, bytes]:
    """Return images of the chain-step kernel and of the stages for each kind of device, by file name."""
    whole, *stages = zip((one.kernel for one in kernels), modules, strict=True)
    made: dict[str, bytes] = {}
    for kind in kinds:
        queue = open_queue(compiling_device(kind).filter)
        made[image_name(kind)] = make_image(queue, kind, encoding.name, *whole)
        made[stages_image_name(kind)] = make_stages_image(
            queue, kind, encoding.name, encoding.constants, stages
        )
    return made


def exported_module(queue: SyclQueue, kernel: ExportedKernel, version: str = SPIRV_VERSIONS[-1]) -> bytes:
    """Return the SPIR-V of a kernel: valid under spirv-val, with `kernel.entry_point` as its one entry point.

    Args:
        queue: a SYCL queue of any device; the result does not depend on it.
        kernel: the kernel to compile, unless it is cached.
        version: version of SPIR-V, one of `SPIRV_VERSIONS`.

    Raises:
        DeviceError: the kernel cannot be compiled, or not be translated to this version.
    """
    module = without_stray_variables(spirv_of(queue, kernel.kernel).module)
    valid = with_listed_variables(module) if version == SPIRV_VERSIONS[-1] else _older(module, version)
    return rename_entry_point(valid, kernel.entry_point)


def _older(module: bytes, version: str) -> bytes:
    """Return a module of an older version of SPIR-V, by Khronos's translator to LLVM and back.

    The translator writes version 1.0 for whatever does not need a newer one; what is valid in it is also
    valid up to 1.3, so that the number in the header is the one that was requested.
    """
    try:
        program = import_module("dpcpp_llvm_spirv").get_llvm_spirv_path()
    except ImportError as error:
        command = install_command("sycl")
        raise DeviceError(
            "the package dpcpp-llvm-spirv is not installed", hint=f"install it: {command}"
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        given, between, made = (str(Path(folder, name)) for name in ("given.spv", "module.bc", "made.spv"))
        Path(given).write_bytes(module)
        for arguments in (
            ["-r", given, "-o", between],
            [f"-spirv-max-version={version}", between, "-o", made],
        ):
            done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
            if done.returncode:
                raise DeviceError(
                    f"a kernel does not translate to SPIR-V {version}: {done.stderr.strip()}",
                    hint=f"export it as SPIR-V {SPIRV_VERSIONS[-1]}",
                )
        older = Path(made).read_bytes()
    magic, _, *others = header(older)
    number = int(version.partition(".")[2]) << 8 | 1 << 16
    return module_of((magic, number, *others), instructions(older))
