"""``syclade call`` and ``syclade filter``: call variants by LoFreq's model; filter the records of a VCF."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.host.commands.progress import LINE_SECONDS, Log, at_intervals, on_terminal, show_log
from syclade.host.ground.options.calls import (
    CALL_FILES,
    CALL_SHARED,
    FILTERS,
    OF_NORMAL,
    REFUSED,
    CallFile,
    CallOptions,
    call_flag,
)
from syclade.host.ground.options.types import Option
from syclade.host.ground.values import counted

if TYPE_CHECKING:
    from syclade.host.calls.kernels import Place
    from syclade.host.calls.read_filter import ReadCounts
    from syclade.host.calls.run import Progress
    from syclade.host.device.cluster.workers import Workers

__all__ = ["STDOUT", "added", "command", "filter_command", "options_of"]

STDOUT = Path("-")


def _with_tables(command: options.Command) -> options.Command:
    """Add the options of the tables, and those that are refused."""
    for shared, changes in reversed(CALL_SHARED.items()):
        command = options.take(shared, **changes)(command)
    for name, letter, reason in reversed(REFUSED):
        command = _refused(name, letter, reason)(command)
    for option in reversed(CallOptions.table.values()):
        command = added(option)(command)
    for file in reversed(CALL_FILES):
        command = _file(file)(command)
    return command


def _flags(option: Option | CallFile) -> list[str]:
    return [*([f"-{option.letter}"] if option.letter else []), call_flag(option.name), option.name]


def _file(option: CallFile) -> Callable[[options.Command], options.Command]:
    default: options.Given = {"required": True}  # with a default of None, click would take that
    if not option.required:
        default = {"default": option.default, "show_default": option.default is not None}
    return click.option(
        *_flags(option),
        type=click.STRING if option.metavar == "REGION" else options.INPUT_FILE,
        metavar=option.metavar,
        help=option.help,
        **default,
    )


def added(option: Option) -> Callable[[options.Command], options.Command]:
    """Return a decorator that adds an option of `CallOptions` to a command."""
    kind, default = option.type, option.none or option.default
    settings: options.Given = {"help": option.help, "default": default, "show_default": True}
    if kind.name == "flag":
        settings |= {"is_flag": True, "show_default": False}
    elif kind.name == "number":
        settings |= {"type": click.FloatRange(kind.low, kind.high, min_open=kind.open_low)}
    elif not option.none:
        settings |= {"type": click.IntRange(kind.low, kind.high if kind.high != 2**31 - 1 else None)}
    return click.option(*_flags(option), **settings)


def _refused(name: str, letter: str, reason: str) -> Callable[[options.Command], options.Command]:
    def refuse(_context: click.Context, parameter: click.Parameter, given: bool) -> None:
        if given:
            raise click.UsageError(f"{call_flag(name)} of LoFreq is not supported: {reason}.")

    flags = [*([f"-{letter}"] if letter else []), call_flag(name)]
    return click.option(
        *flags, f"refused_{letter or name.replace('.', '_')}", is_flag=True, is_eager=True, hidden=True,
        expose_value=False, callback=refuse,
    )  # fmt: skip


_OTHERS = ", ".join(f"-{letter}" if letter else call_flag(name) for name, letter, _ in REFUSED)


@click.command("call", epilog=f"LoFreq's {_OTHERS} are refused: the message says what to use instead.")
@click.argument("reads", type=options.INPUT_FILE, nargs=-1, required=True, metavar="BAM...")
@_with_tables
def command(
    reads: tuple[Path, ...],
    ref: Path,
    out: Path,
    region: str | None,
    bed: Path | None,
    sites: Path | None,
    normal: Path | None,
    dbsnp: Path | None,
    device: str,
    scheduler: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **given: Any,
) -> None:
    """Call single-nucleotide variants, and with --call-indels indels, of the reads in each BAM, by LoFreq's
    model.

    BAM is a file of reads, sorted by position and with an index, or CRAM. Options and defaults are those of
    lofreq call. Several files are samples of one VCF. With --normal, BAM is a tumour, and each of its
    variants is judged by the normal sample, as by lofreq somatic.
    """
    from syclade.host.calls.request import CallFiles, CallRun
    from syclade.host.calls.summary import summary_of
    from syclade.host.calls.vcf import check_vcf, vcf_lines, write_vcf

    files = CallFiles(reads, ref, normal, dbsnp, region, bed, sites)
    log = show_log(quiet, verbose)
    begun = time.perf_counter()
    run = CallRun(files, options_of(given))
    click.get_current_context().call_on_close(run.close)
    chosen = run.options
    if out != STDOUT:
        check_vcf(out, run.longest, force, files.inputs)
    _warn(run.warnings, log)
    with _place(device, scheduler) as place, _progress(quiet, log) as progress:
        if not verbose:
            _leave_out_devices()
        called = run.call(place, progress=progress)
    _warn(run.warnings, log)
    text = "".join(vcf_lines(called, ref.name, chosen))
    if out == STDOUT:
        click.echo(text, nl=False)
        written = []
    else:
        written = write_vcf(out, text, run.longest, force=force, protected=files.inputs)
    summary = summary_of(called, chosen, ref, written, time.perf_counter() - begun)
    if as_json:
        click.echo(json.dumps(summary, indent=2), err=out == STDOUT)
    elif not quiet:
        _tell(summary, called.reads)


@contextmanager
def _place(device: str, scheduler: str | None) -> Iterator[Place | Workers]:
    """Yield the device, or the workers."""
    if scheduler is None:
        from syclade.host.calls.kernels import place_of
        from syclade.host.device.device import usable_cores

        yield place_of(device, usable_cores())
        return
    from syclade.host.device.cluster.scheduler import open_scheduler
    from syclade.host.device.cluster.workers import Workers

    with open_scheduler(scheduler) as executor:
        yield Workers(executor, device)


def _leave_out_devices() -> None:
    """Log no choice of a device until the command ends: each window of tests chooses the same one."""
    logger = logging.getLogger("syclade.devices")
    click.get_current_context().call_on_close(lambda level=logger.level: logger.setLevel(level))
    logger.setLevel(logging.WARNING)


def options_of(given: options.Given) -> CallOptions:
    """Return the options of a command, with words such as `dynamic` replaced."""
    for name, row in CallOptions.table.items():
        if row.none and name in given:
            word = str(given[name])
            if word != row.none and not word.isdecimal():
                raise click.BadParameter(f"give {row.none}, or {row.type}.", param_hint=call_flag(name))
            given[name] = None if word == row.none else int(word)
    given["drop_filtered"] |= given.get("compat", False)
    return CallOptions(**given)


def _warn(warnings: list[str], log: Log) -> None:
    """Print warnings, and forget them."""
    for words in warnings:
        log.tell(f"syclade: warning: {words}")
    warnings.clear()


@contextmanager
def _progress(quiet: bool, log: Log) -> Iterator[Progress | None]:
    """Show how much of the genome is done; without a terminal, print a line from time to time."""
    if quiet:
        yield None
        return
    if not on_terminal():
        due = at_intervals(LINE_SECONDS)

        def line(done: int, total: int, place: str) -> None:
            if due():
                log.tell(f"syclade: {done / total:.0%} of {total} positions, {place}")

        yield line
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    echo = log.tell
    with Progress(*columns, TextColumn("{task.description}"), console=console, transient=True) as bar:
        log.tell = lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True)
        task = bar.add_task("starting", total=None)
        try:
            yield lambda done, total, place: bar.update(task, completed=done, total=total, description=place)
        finally:
            log.tell = echo


def _tell(summary: dict[str, Any], counts: Iterable[ReadCounts]) -> None:
    """Print the summary, and the numbers of reads by sample, on standard error."""
    if summary["somatic"] is not None:
        from syclade.host.calls.summary import FILTERED

        counts_of = summary["somatic"].items()
        parts = ", ".join(
            f"{number} {name.replace('_', ' ')}" for name, number in counts_of if number or name != FILTERED
        )
        click.echo(f"syclade: variants of the tumour by the normal sample: {parts}", err=True)
    kinds = {"": ("tests", "min_quality"), " of indels": ("indel_tests", "min_indel_quality")}
    for sample in summary["samples"]:
        limits = [
            f"{counted(sample[tests], 'test', 'tests')}{kind}"
            + (f", quality at least {sample[quality]}" if sample[tests] else "")
            for kind, (tests, quality) in kinds.items()
            if sample[tests] is not None
        ]
        if sample["indels_left_out"]:
            hint = "" if summary["options"]["compat"] else f" ({call_flag('keep_homopolymers')} tests them)"
            indels = counted(sample["indels_left_out"], "indel", "indels")
            limits.append(f"{indels} in homopolymers not tested{hint}")
        passed = sample["passed"]
        found = f"{counted(sample['variants'], 'variant', 'variants')}, {passed} pass{'es' * (passed == 1)}"
        click.echo("; ".join((f"syclade: {sample['sample']}: {found}", *limits)), err=True)
    for sample, reads in zip(summary["samples"], counts, strict=True):
        left_out = f", left out: {reads.reasons()}" if reads.left_out else ""
        click.echo(
            f"syclade: {sample['sample']}: {reads.used} of {reads.total} reads used{left_out}", err=True
        )
    if summary["files"]:
        click.echo(f"syclade: wrote {', '.join(summary['files'])}", err=True)


def _with_filters(command: options.Command) -> options.Command:
    """Add the options of filters."""
    for name in reversed((*FILTERS, "no_default_filter", "drop_filtered")):
        row = CallOptions.table[name]
        command = added(row._replace(help=row.help.replace(OF_NORMAL, "")))(command)
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
def filter_command(vcf: Path, out: Path, force: bool, as_json: bool, quiet: bool, **given: Any) -> None:
    """Filter the records of VCF, of syclade call or lofreq call, by the values of INFO.

    Without options, the filters are those of syclade call: 10 reads, and strand bias. Names of filters that a
    record does not pass are added to its FILTER; --drop-filtered leaves such records out. Several samples are
    filtered by their sums.
    """
    from syclade.host.calls.filter_calls import filter_vcf
    from syclade.host.calls.vcf import check_vcf, write_vcf

    inputs = {"the VCF": vcf}
    chosen = options_of(given)
    if out != STDOUT:
        check_vcf(out, 0, force, inputs)
    found = filter_vcf(vcf, chosen)
    files: list[Path] = []
    if out == STDOUT:
        click.echo(found.vcf, nl=False)
    else:
        files = write_vcf(out, found.vcf, found.longest, force=force, protected=inputs)
    if as_json:
        summary = {
            "records": found.records,
            "passed": found.passed,
            "rejected": found.rejected,
            "rejected_before": found.before,
            "files": list(map(str, files)),
        }
        click.echo(json.dumps(summary, indent=2), err=out == STDOUT)
    elif not quiet:
        by_name = ", ".join(
            [f"{number} {name}" for name, number in found.rejected.items()]
            + [f"{found.before} by filters of the given VCF"] * bool(found.before)
        )
        words = f"{found.passed} of {found.records} records pass" + (
            f"; rejected: {by_name}" if by_name else ""
        )
        wrote = f"; wrote {', '.join(map(str, files))}" if files else ""
        click.echo(f"syclade: {words}{wrote}", err=True)
