"""``syclade export``: write the kernels to a folder, with everything needed to run them elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from syclade.host.commands import options

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.model.rates import Rates

__all__ = ["command"]

POSITIVE = click.IntRange(min=1)
HLS = (
    "opencl",
    "vitis",
    "oneapi",
)  # flavours; those of export/hls/flavours.py, which this module does not load
SPIRV = ("1.0", "1.1", "1.2", "1.3", "1.4")  # versions; those of export/folder.py
MISSING = 0.1  # share of missing values in a simulated test vector


@click.command("export")
@click.argument("directory", metavar="DIR", type=options.INPUT_FILE)
@click.option("--cells", type=POSITIVE, metavar="M", help="Most distinct columns that shall fit.")
@click.option("--mutations", type=POSITIVE, metavar="N", help="Most mutations that shall fit.")
@click.option(
    "--matrix",
    type=options.MATRIX,
    metavar="FILE",
    help="Matrix of the test vector, - for standard input; without, one of M x N is simulated.",
)
@options.take("fp_rate", required=False, default=0.01, help="Rate of false positives of the test vector.")
@options.take("fn_rate", required=False, default=0.2, help="Rate of false negatives of the test vector.")
@options.take("fn_rate_hom", "hom_rate", "merge_homozygous")
@options.take("chains", default=4, help="Chains of the test vector; with --hls by default twice the states.")
@options.take("steps", default=1000, help="Steps of each chain of the test vector.")
@options.take("seed")
@click.option(
    "--with-image",
    "images",
    multiple=True,
    metavar="cpu|fpga-emu",
    help="Compile the chain-step kernel, or those of tails, for this kind of device, too; may be repeated.",
)
@click.option(
    "--spirv-version",
    type=click.Choice(SPIRV),
    default=SPIRV[-1],
    show_default=True,
    help="Version of the SPIR-V modules.",
)
@click.option("--tails", is_flag=True, help="Export the kernels of tails of columns instead (syclade call).")
@click.option("--columns", type=POSITIVE, default=64, show_default=True, help="Columns of their test vector.")
@click.option("--hls", type=click.Choice(HLS), help="Export a project in C for this compiler instead.")
@click.option("--states", type=POSITIVE, default=6, show_default=True, help="Its chain states in flight.")
@click.option("--unroll", type=POSITIVE, default=8, show_default=True, help="Rows its loops do at once.")
@options.take("force", "json")
def command(
    directory: Path,
    cells: int | None,
    mutations: int | None,
    matrix: options.GivenMatrix | None,
    chains: int,
    steps: int,
    seed: int,
    images: tuple[str, ...],
    spirv_version: str,
    tails: bool,
    columns: int,
    hls: str | None,
    states: int,
    unroll: int,
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Write the kernels, for another host or an FPGA compiler.

    DIR gets the SPIR-V of the chain-step kernel and of each of its stages, specialised for up to M distinct
    columns and N mutations; manifest.json, which describes every argument; problem.npz, a prepared inference
    with its expected results; and load_design.py, which runs it with dpctl alone. With --tails, it gets the
    three kernels of tails of columns, with load_tails.py. With --hls, it gets the pipeline of the five stages
    as a project for high-level synthesis: sources in C, a testbench and golden vectors.
    """
    _refuse_together(tails, hls)
    size = (cells, mutations)
    if tails:
        names = _tails(directory, columns, seed, images, spirv_version, force)
    elif hls is not None:
        chosen = click.get_current_context().get_parameter_source("chains")
        count = 2 * states if chosen == ParameterSource.DEFAULT else chains
        names = _hls(directory, hls, (states, unroll), size, matrix, (count, steps, seed), force, given)
    else:
        names = _chains(directory, *size, matrix, chains, steps, seed, images, spirv_version, force, given)
    paths = [str(directory / name) for name in names]
    if as_json:
        click.echo(json.dumps({"files": paths}, indent=2))
    else:
        click.echo(f"wrote {', '.join(paths)}")


_OF_TAILS = ("directory", "tails", "columns", "seed", "images", "spirv_version", "force", "as_json")
_OF_HLS = ("hls", "states", "unroll")


def _refuse_together(tails: bool, hls: str | None) -> None:
    """Refuse options of the other families of kernels."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) != ParameterSource.COMMANDLINE:
            continue
        if tails and name not in _OF_TAILS:
            raise click.UsageError(f"{parameter.opts[0]} does not go with --tails.")
        if not tails and name == "columns":
            raise click.UsageError("--columns goes with --tails only.")
        if hls is None and name in _OF_HLS:
            raise click.UsageError(f"{parameter.opts[0]} goes with --hls only.")
        if hls is not None and name in ("images", "spirv_version"):
            raise click.UsageError(f"{parameter.opts[0]} does not go with --hls.")


def _tails(
    directory: Path, columns: int, seed: int, images: tuple[str, ...], spirv_version: str, force: bool
) -> list[str]:
    """Export the kernels of tails; return the names of the files."""
    from syclade.host.calls.tails.columns import KERNELS
    from syclade.host.commands.export.folder import check_image_kinds
    from syclade.host.commands.export.tails import TAIL_FILES, export_tails, tail_image_name
    from syclade.host.ground.files import check_output

    check_image_kinds(images)
    made = [tail_image_name(kernel, kind) for kind in images for kernel in KERNELS]
    check_output(directory, (*TAIL_FILES, *made), force)
    return export_tails(
        directory, columns=columns, seed=seed, images=images, spirv_version=spirv_version, force=force
    )


def _chains(
    directory: Path,
    cells: int | None,
    mutations: int | None,
    matrix: options.GivenMatrix | None,
    chains: int,
    steps: int,
    seed: int,
    images: tuple[str, ...],
    spirv_version: str,
    force: bool,
    given: options.Given,
) -> list[str]:
    """Export the kernels of chains; return the names of the files."""
    from syclade.host.commands.export.folder import FILES, export_folder, image_name
    from syclade.host.ground.files import check_output, refuse_same

    written = (*FILES, *map(image_name, images))
    refuse_same([directory / name for name in written], {"MATRIX": matrix})
    check_output(directory, written, force)
    rates = options.rates_of(given)
    vector = _matrix(matrix, cells, mutations, rates, seed)
    return export_folder(
        directory,
        vector,
        rates,
        cells=cells or vector.n_cells,
        mutations=mutations or vector.n_mutations,
        chains=chains,
        steps=steps,
        seed=seed,
        images=images,
        spirv_version=spirv_version,
        force=force,
    )


def _hls(
    directory: Path,
    name: str,
    design: tuple[int, int],
    size: tuple[int | None, int | None],
    matrix: options.GivenMatrix | None,
    inference: tuple[int, int, int],
    force: bool,
    given: options.Given,
) -> list[str]:
    """Export a project for high-level synthesis; return the names of the files."""
    from syclade.host.commands.export.hls.flavours import FLAVOURS
    from syclade.host.commands.export.hls.project import Design, export_project
    from syclade.host.commands.export.hls.vectors import Vectors
    from syclade.host.ground.files import check_output, refuse_same

    flavour, vectors = FLAVOURS[name], Vectors(*inference)
    refuse_same([directory / file for file in flavour.all_files], {"MATRIX": matrix})
    check_output(directory, flavour.all_files, force)
    rates = options.rates_of(given)
    found = _matrix(matrix, *size, rates, vectors.seed)
    capacity = (size[0] or found.n_cells, size[1] or found.n_mutations)
    return export_project(directory, flavour, found, rates, capacity, Design(*design), vectors, force)


def _matrix(
    given: options.GivenMatrix | None, cells: int | None, mutations: int | None, rates: Rates, seed: int
) -> Matrix:
    """Return the matrix of the test vector: the given one, or a simulated one."""
    if given is not None:
        from syclade.host.data.input.read_matrix import read_matrix

        return read_matrix(given)
    if cells is None or mutations is None:
        raise click.UsageError("Give --cells and --mutations, or --matrix.")
    from syclade.host.data.model.simulate import simulate

    zygosity = (rates.fn_rate_hom, rates.hom_rate)
    return simulate(cells, mutations, rates.fp_rate, rates.fn_rate, MISSING, seed, *zygosity).matrix
