"""``syclade filter``: filter the records of a VCF of `syclade call` or `lofreq call`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.host.commands.call import STDOUT, added, options_of
from syclade.host.ground.options.calls import FILTERS, CallOptions

__all__ = ["command"]


def _with_filters(command: options.Command) -> options.Command:
    """Add the options of filters."""
    for name in reversed((*FILTERS, "no_default_filter", "drop_filtered")):
        command = added(CallOptions.table[name])(command)
    return command


_out: Callable[[options.Command], options.Command] = click.option(
    "-o",
    "--out",
    type=options.INPUT_FILE,
    default="-",
    show_default=True,
    metavar="VCF",
    help="VCF to write; .vcf.gz is compressed and indexed; - is standard output.",
)


@click.command("filter")
@click.argument("vcf", type=options.INPUT_FILE, metavar="VCF")
@_out
@_with_filters
@options.take("force", help="Replace an existing VCF.")
@options.take("json", help="Print a summary as JSON, on standard error with -o -.")
@options.take("quiet", help="Print no summary.")
def command(vcf: Path, out: Path, force: bool, as_json: bool, quiet: bool, **given: Any) -> None:
    """Filter the records of VCF, of syclade call or lofreq call, by the values of INFO.

    Without options, the filters are those of syclade call: 10 reads, and strand bias. Names of filters that a
    record does not pass are added to its FILTER; --drop-filtered leaves such records out. Several samples are
    filtered by their sums.
    """
    from syclade.host.calls.filters import filter_vcf
    from syclade.host.calls.vcf_files import check_vcf, write_vcf

    inputs = {"the VCF": vcf}
    chosen = options_of(given)
    if out != STDOUT:
        check_vcf(out, 0, force, inputs)
    found = filter_vcf(vcf, chosen)
    files: list[Path] = []
    if out == STDOUT:
        click.echo(found.text, nl=False)
    else:
        files = write_vcf(out, found.text, found.longest, force=force, protected=inputs)
    if as_json:
        summary = {
            "records": found.records,
            "passed": found.passed,
            "rejected": found.rejected,
            "files": list(map(str, files)),
        }
        click.echo(json.dumps(summary, indent=2), err=out == STDOUT)
    elif not quiet:
        by_name = ", ".join(f"{number} {name}" for name, number in found.rejected.items())
        words = f"{found.passed} of {found.records} records pass" + (
            f"; rejected: {by_name}" if by_name else ""
        )
        wrote = f"; wrote {', '.join(map(str, files))}" if files else ""
        click.echo(f"syclade: {words}{wrote}", err=True)
