"""``syclade export``: write the kernels to a folder, with everything needed to run them elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.cli import options

if TYPE_CHECKING:
    from syclade.host.input.matrix import Matrix
    from syclade.host.model.rates import Rates

__all__ = ["command"]

POSITIVE = click.IntRange(min=1)
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
@options.take("chains", default=4, help="Chains of the test vector.")
@options.take("steps", default=1000, help="Steps of each chain of the test vector.")
@options.take("seed")
@click.option(
    "--with-image",
    "images",
    multiple=True,
    metavar="cpu|fpga-emu",
    help="Compile the chain-step kernel for this kind of device, too; may be repeated.",
)
@options.take("force", "json")
def command(
    directory: Path,
    cells: int | None,
    mutations: int | None,
    matrix: Any,
    chains: int,
    steps: int,
    seed: int,
    images: tuple[str, ...],
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Write the kernels, for another host or an FPGA compiler.

    DIR gets the SPIR-V of the chain-step kernel and of each of its stages, specialised for up to M distinct
    columns and N mutations; manifest.json, which describes every argument; problem.npz, a prepared inference
    with its expected results; and load_design.py, which runs it with dpctl alone.
    """
    from syclade.host.common.files import check_output
    from syclade.host.common.places import refuse_same
    from syclade.host.export import FILES, export_folder
    from syclade.host.export.folder import image_name

    written = (*FILES, *map(image_name, images))
    refuse_same([directory / name for name in written], {"MATRIX": matrix})
    check_output(directory, written, force)
    rates = options.rates_of(given)
    vector = _matrix(matrix, cells, mutations, rates, seed)
    names = export_folder(
        directory,
        vector,
        rates,
        cells=cells or vector.n_cells,
        mutations=mutations or vector.n_mutations,
        chains=chains,
        steps=steps,
        seed=seed,
        images=images,
        force=force,
    )
    paths = [str(directory / name) for name in names]
    if as_json:
        click.echo(json.dumps({"files": paths}, indent=2))
    else:
        click.echo(f"wrote {', '.join(paths)}")


def _matrix(given: Any, cells: int | None, mutations: int | None, rates: Rates, seed: int) -> Matrix:
    """Return the matrix of the test vector: the given one, or a simulated one."""
    if given is not None:
        from syclade.host.input.door import read_matrix

        return read_matrix(given)
    if cells is None or mutations is None:
        raise click.UsageError("Give --cells and --mutations, or --matrix.")
    from syclade.host.model.simulate import simulate

    zygosity = (rates.fn_rate_hom, rates.hom_rate)
    return simulate(cells, mutations, rates.fp_rate, rates.fn_rate, MISSING, seed, *zygosity).matrix
