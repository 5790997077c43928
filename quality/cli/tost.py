"""``syclade quality tost``: are our optima as good as SCITE's?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.cli import options
from syclade.quality.cli.progress import progress_bar

if TYPE_CHECKING:
    from syclade.host.devices.device import Device
    from syclade.quality.reference.folder import Reference
    from syclade.quality.reference.scores import ScoredInput
    from syclade.quality.tost.runs import Comparison, RunSettings
    from syclade.quality.tost.test import Equivalence

__all__ = ["command"]

FILES = ("tost.json", "tost.png")
KEPT = "inputs"

FP_RATE, FN_RATE, CHAINS, STEPS = 1e-6, 0.25, 6, 1_000_000
"""Those of the thesis's test, for a folder that does not tell its own."""


@click.command("tost")
@click.option("--reference", type=options.INPUT_FILE, required=True, metavar="DIR", help="Reference folder.")
@options.device_option()
@click.option(
    "--method",
    type=click.Choice(("chain", "search")),
    default="chain",
    show_default=True,
    help="Run chains as SCITE does, or search.",
)
@click.option("--chains", type=click.IntRange(min=1), help=f"Chains; as SCITE's runs, or {CHAINS}.")
@click.option("--steps", type=click.IntRange(min=1), help=f"Steps a chain; as SCITE's runs, or {STEPS}.")
@click.option(
    "--fp-rate",
    type=options.Probability(inside=True),
    help=f"SCITE's -fd, where the folder has no reference.json; {FP_RATE:g} by default.",
)
@click.option(
    "--fn-rate",
    type=options.Probability(inside=True),
    help=f"SCITE's -ad, where the folder has no reference.json; {FN_RATE:g} by default.",
)
@options.zygosity_options()
@options.encoding_option()
@options.seed_option()
@click.option("--limit", type=click.IntRange(min=2), metavar="K", help="Take the first K inputs only.")
@options.out_option(required=True)
@options.force_option()
@options.json_option()
def command(
    reference: Path,
    device: str,
    encoding: str,
    limit: int | None,
    out: Path,
    force: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Compare our best trees with SCITE's by two one-sided paired t-tests.

    Every input of the reference folder is inferred, and both trees are scored by one scorer, which must
    agree with SCITE's logs. Equivalent means: better or worse by less than one flipped bit on the mean, each
    at significance 0.01. DIR gets tost.json, tost.png and a file for each input in DIR/inputs; what was done
    with the same settings is not done again.
    """
    from syclade.host.devices.choice import choose_device
    from syclade.host.encodings import encoding_name
    from syclade.host.output.files import check_output
    from syclade.quality.extras import require_extras
    from syclade.quality.reference.folder import read_reference
    from syclade.quality.reference.scores import score_reference

    require_extras()
    folder = read_reference(reference)
    check_output(out, FILES, force)
    found = choose_device(device)
    settings = _settings(folder, given, found, encoding_name(encoding, found))
    scored = score_reference(folder.inputs[:limit], settings.rates)
    if not as_json:
        _print_start(scored, settings, found.name)
    comparisons = _compare_all(scored, settings, out / KEPT, force)
    result = _judge(comparisons, settings.rates.flip_effect())
    text = _write(result, comparisons, scored, settings, found.name, out, force)
    if as_json:
        click.echo(text)
    else:
        _print(result, comparisons, out)
    return 0 if result.equivalent else 1


def _print_start(scored: list[ScoredInput], settings: RunSettings, device_name: str) -> None:
    rates = " and ".join(f"{rate:g}" for name, rate in settings.rates.told().items() if "rate" in name)
    worst = max(abs(each.discrepancy) for each in scored)
    runs = "searches" if settings.chains is None else f"{settings.chains} chains of {settings.steps} steps"
    click.echo(
        f"{len(scored)} inputs, {runs} on {settings.device} "
        f"({device_name}, {settings.encoding}), error rates {rates}"
    )
    click.echo(f"scores of SCITE's trees: ours are those of its logs, within {worst:.1e} nat")


def _settings(folder: Reference, given: dict[str, Any], device: Device, encoding: str) -> RunSettings:
    """SCITE's own settings, as far as the folder tells them and the user does not want others."""
    from syclade.host.model.rates import Rates
    from syclade.quality.tost.runs import RunSettings

    by_chains = given["method"] == "chain"
    for name in ("chains", "steps"):
        if given[name] is not None and not by_chains:
            raise click.UsageError(f"--{name} is for chains, and --method is search.")
    return RunSettings(
        rates=Rates(
            folder.rate("fp_rate", given["fp_rate"], FP_RATE),
            folder.rate("fn_rate", given["fn_rate"], FN_RATE),
            folder.rate("fn_rate_hom", given["fn_rate_hom"], None),
            folder.rate("hom_rate", given["hom_rate"], None),
            given["merge_homozygous"],
        ),
        method=given["method"],
        chains=(given["chains"] or folder.settings.get("chains", CHAINS)) if by_chains else None,
        steps=(given["steps"] or folder.settings.get("steps", STEPS)) if by_chains else None,
        seed=given["seed"],
        device=device.filter,
        encoding=encoding,
    )


def _compare_all(
    scored: list[ScoredInput], settings: RunSettings, kept: Path, force: bool
) -> list[Comparison]:
    from syclade.quality.tost.runs import compare

    comparisons = []
    steps = (settings.chains or 1) * (settings.steps or 1)
    with progress_bar() as show:
        for number, each in enumerate(scored):
            before, total = number * steps, len(scored) * steps
            what = f"input {each.name}, {number + 1} of {len(scored)}"
            show(what, before, total)

            def step(done: float, what: str = what, before: int = before, total: int = total) -> None:
                show(what, before + min(done, steps), total)

            comparisons.append(compare(each, settings, kept, force, step))
    return comparisons


def _judge(comparisons: list[Comparison], margin: float) -> Equivalence:
    from syclade.quality.tost.test import Differences, tost

    ours = [each.ours for each in comparisons]
    return tost(Differences.between(ours, [each.scite for each in comparisons]), margin)


def _write(
    result: Equivalence,
    comparisons: list[Comparison],
    scored: list[ScoredInput],
    settings: RunSettings,
    device_name: str,
    out: Path,
    force: bool,
) -> str:
    """Write the files; the report's text."""
    import json

    from syclade.host.output.files import write_files
    from syclade.quality.tost.plot import plot_tost
    from syclade.quality.tost.report import tost_report

    report = tost_report(result, comparisons, scored, {**settings.values(), "device_name": device_name})
    plot_tost(result, comparisons, out / FILES[1])
    text = json.dumps(report, indent=2)
    write_files(out, {FILES[0]: text + "\n"}, force)
    return text


def _print(result: Equivalence, comparisons: list[Comparison], out: Path) -> None:
    from syclade.quality.tost.report import tost_lines

    for line in tost_lines(result):
        click.echo(line)
    kept = sum(each.kept for each in comparisons)
    earlier = f" ({kept} inputs from an earlier run)" if kept else ""
    click.echo(f"our runs: {sum(each.seconds for each in comparisons):.1f} s{earlier}")
    click.echo(f"wrote {', '.join(str(out / name) for name in FILES)}")
