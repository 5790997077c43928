"""``syclade quality calls``: compare the records of syclade call with those of a LoFreq program."""

from __future__ import annotations

from pathlib import Path

import click

from syclade.host.commands import options
from syclade.quality.cli.options import inputs_option, report_tables
from syclade.quality.cli.progress import progress_bar

__all__ = ["command"]

FILES = ("calls.json", "calls.md")


@click.command("calls")
@click.option(
    "--lofreq",
    required=True,
    metavar="PROGRAM",
    help="A LoFreq 2.1.5 program.",
)
@inputs_option("Number of random inputs.", default=20)
@options.take("seed", default=1)
@click.option(
    "--reads",
    "given",
    type=options.INPUT_FILE,
    multiple=True,
    metavar="BAM",
    help="Reads to compare instead; may be given more than once.",
)
@click.option("--ref", "reference", type=options.INPUT_FILE, metavar="FASTA", help="Reference of --reads.")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    lofreq: str,
    inputs: int,
    seed: int,
    given: tuple[Path, ...],
    reference: Path | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Compare syclade call --compat with LoFreq, over each of its options.

    Random reads have clips, gaps, skips, flags of all kinds, and two contigs. The table has the number of
    records of each setting that are equal. The check holds if all are. Writes calls.md, and calls.json with
    all records that differ, to DIR.
    """
    from syclade.host.ground.errors import OptionError
    from syclade.host.ground.files import check_output
    from syclade.quality.calls.beside_lofreq import beside_lofreq

    if given and reference is None:
        raise OptionError("--reads has no reference", hint="give its reference: --ref FASTA")
    check_output(out, FILES, force)
    with progress_bar() as show:
        result = beside_lofreq(
            lofreq, inputs=inputs, seed=seed, given=given, reference=reference, progress=show
        )
    return report_tables(result, out, FILES, force, as_json)
