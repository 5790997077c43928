"""``syclade export``: write the kernels to a folder, with everything needed to run them elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from syclade.host.commands import options

__all__ = ["command"]

POSITIVE = click.IntRange(min=1)
HLS = (
    "opencl",
    "vitis",
    "oneapi",
)  # flavours; those of export/hls/flavours.py, which this module does not load
SPIRV = ("1.0", "1.1", "1.2", "1.3", "1.4")  # versions; those of export/folder.py


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
@click.option(
    "--score",
    type=click.Choice(("max", "sum")),
    default="max",
    show_default=True,
    help="Score of the kernels.",
)
@options.take("learn_fn", "learn_fp")
@options.take("samples", help="Export kernels that record samples; every K steps in the test vector.")
@options.take("chains", default=4, help="Chains of the test vector; with --hls by default twice the states.")
@options.take("steps", default=1000, help="Steps of each chain of the test vector.")
@options.take("seed")
@click.option(
    "--with-image",
    "images",
    multiple=True,
    metavar="cpu|fpga-emu",
    help="Compile the kernels for this kind of device, too; may be repeated.",
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
@click.option(
    "--hls",
    type=click.Choice(HLS),
    help="Export a project in C for this compiler instead; with --tails a column unit.",
)
@click.option("--states", type=POSITIVE, default=6, show_default=True, help="Its chain states in flight.")
@click.option(
    "--unroll",
    type=POSITIVE,
    default=8,
    show_default=True,
    help="Rows that its loops do at once; processing elements of a column unit.",
)
@click.option(
    "--block",
    type=POSITIVE,
    default=4096,
    show_default=True,
    metavar="W",
    help="Entries that a column unit has on the chip.",
)
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
    block: int,
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Write the kernels, for another host or an FPGA compiler.

    DIR gets the SPIR-V of the chain-step kernel and of each of its stages, specialised for up to M distinct
    columns and N mutations; manifest.json, which describes every argument; problem.npz, a prepared inference
    with its expected results; and load_design.py, which runs it with dpctl alone. With --tails, it gets the
    same for the three kernels of tails of columns. With --hls, it gets the pipeline of the five stages as a
    project for high-level synthesis: sources in C, a testbench and golden vectors; with both, the column
    unit of variant calling.
    """
    _refuse_together(tails, hls)
    if not tails and matrix is None and (cells is None or mutations is None):
        raise click.UsageError("Give --cells and --mutations, or --matrix.")
    from syclade.host.commands.export.api import export

    chosen = click.get_current_context().get_parameter_source("chains")
    paths = export(
        directory,
        matrix,
        cells=cells,
        mutations=mutations,
        chains=None if chosen == ParameterSource.DEFAULT else chains,
        steps=steps,
        seed=seed,
        images=images,
        spirv_version=spirv_version,
        tails=tails,
        columns=columns,
        hls=hls,
        states=states,
        unroll=unroll,
        block=block,
        force=force,
        **given,
    )
    if as_json:
        click.echo(json.dumps({"files": [str(path) for path in paths]}, indent=2))
    else:
        click.echo(f"wrote {', '.join(map(str, paths))}")


_OF_TAILS = ("directory", "tails", "columns", "seed", "force", "as_json")
_OF_MODULES = ("images", "spirv_version")
_OF_UNIT = ("hls", "unroll", "block")
_OF_HLS = ("hls", "states", "unroll", "block")


def _refuse_together(tails: bool, hls: str | None) -> None:
    """Refuse options of the other families of kernels."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) != ParameterSource.COMMANDLINE:
            continue
        if hls is None and name in _OF_HLS:
            raise click.UsageError(f"{parameter.opts[0]} goes with --hls only.")
        if tails and name not in (*_OF_TAILS, *(_OF_MODULES if hls is None else _OF_UNIT)):
            raise click.UsageError(f"{parameter.opts[0]} does not go with --tails.")
        if not tails and name in ("columns", "block"):
            raise click.UsageError(f"{parameter.opts[0]} goes with --tails only.")
        if hls is not None and name in ("images", "spirv_version", "score", "learn_fn", "learn_fp"):
            raise click.UsageError(f"{parameter.opts[0]} does not go with --hls.")
