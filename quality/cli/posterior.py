"""``syclade quality posterior``: does the chain sample its posterior?"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.cli import options
from syclade.host.errors import OptionError
from syclade.quality.cli.progress import Show, progress_bar

if TYPE_CHECKING:
    from syclade.host.chains.plan import Plan
    from syclade.host.devices.device import Device
    from syclade.quality.posterior.check import PosteriorCase

__all__ = ["command"]

FILES = ("posterior.json", "posterior.png")


@click.command("posterior")
@options.device_option()
@click.option(
    "--mutations",
    type=click.IntRange(2, 5),
    multiple=True,
    default=(3, 4, 5),
    show_default=True,
    metavar="N",
    help="Size of the trees, 2 to 5 (cells of cell-leaf trees, 3 to 5); may be given more than once.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1000),
    default=1_000_000,
    show_default=True,
    help="Independent reads for each size, each with the step that follows it.",
)
@click.option(
    "--gamma",
    type=click.FloatRange(0.01, 10),
    default=1.5,
    show_default=True,
    help="Exponent of the likelihood; with 1 a chain that forgets it would not be found out.",
)
@click.option(
    "--move-probs",
    type=float,
    nargs=3,
    metavar="P L S",
    help="Weights of prune and reattach, swap labels, swap subtrees; 0.3, 0.3, 0.4 without. "
    "Those of cell-leaf trees are 0.4 and 0.6 always.",
)
@options.tree_option()
@click.option("--zygosity", is_flag=True, help="Let some observations be homozygous, with their own rates.")
@click.option("--learn", is_flag=True, help="Learn the error rates, on grids of few points; N is 2 to 4.")
@options.score_option()
@options.encoding_option()
@options.seed_option()
@options.out_option(required=True)
@options.force_option()
@options.json_option()
def command(
    device: str,
    mutations: tuple[int, ...],
    gamma: float,
    move_probs: tuple[float, float, float] | None,
    tree: str,
    out: Path,
    force: bool,
    as_json: bool,
    **settings: Any,
) -> int:
    """Compare what the chain does on small trees with what it should do, exactly.

    All trees of N mutations (or of N cells) are enumerated. Three things must hold: the proposals are in
    detailed balance (exact fractions), the visit frequencies of independent reads are those of the posterior,
    and single steps have the probabilities of the exact chain. DIR gets posterior.json and posterior.png.
    """
    from syclade.host.devices.choice import choose_device
    from syclade.host.encodings import choose_encoding
    from syclade.host.output.files import check_output
    from syclade.quality.extras import require_extras

    require_extras()
    check_output(out, FILES, force)
    chosen = choose_device(device)
    plans = _plans(tree, sorted(set(mutations)), gamma, move_probs, **settings)
    encoding = choose_encoding(settings["encoding"], chosen, plans[0].problem).name
    cases = []
    with progress_bar() as show:
        for plan in plans:
            cases.append(
                _check(plan, chosen, show, settings["samples"], settings["encoding"], settings["seed"])
            )
    below = (0, *plans[0].move_below)
    moves = [(upper - lower) / 65536 for lower, upper in pairwise(below)]
    told = {
        **settings, "device": chosen.filter, "tree": tree, "encoding": encoding, "move_probabilities": moves
    }  # fmt: skip
    text = _write(cases, told, out, force)
    if as_json:
        click.echo(text)
    else:
        _print(cases, chosen, encoding, out)
    return 0 if all(case.holds for case in cases) else 1


def _plans(
    tree: str,
    sizes: list[int],
    gamma: float,
    move_probs: tuple[float, float, float] | None,
    *,
    zygosity: bool,
    score: str,
    learn: bool,
    **_: Any,
) -> list[Plan]:
    """The chains to check.

    Raises:
        OptionError: what is asked for does not go with the trees.
    """
    from syclade.quality.posterior.small_target import MOVE_PROBABILITIES, small_leaf_plan, small_plan

    if tree == "mutation":
        moves = move_probs or MOVE_PROBABILITIES
        return [small_plan(size, gamma, moves, zygosity=zygosity, score=score, learn=learn) for size in sizes]
    if learn or score != "max" or move_probs is not None:
        raise OptionError(
            "cell-leaf trees have their own score and moves, and no learned rates",
            hint="leave out --learn, --score and --move-probs, or --tree leaf",
        )
    return [small_leaf_plan(size, gamma, zygosity=zygosity) for size in sizes]


def _check(plan: Plan, device: Device, show: Show, samples: int, encoding: str, seed: int) -> PosteriorCase:
    from syclade.quality.posterior.check import judge
    from syclade.quality.posterior.samples import sample_chain
    from syclade.quality.posterior.small_target import make_target

    show("enumerating", 0, 1)
    target = make_target(plan)
    what = target.size
    drawn = sample_chain(
        target, device, encoding, samples, seed, progress=lambda done, total: show(what, done, total)
    )
    try:
        return judge(target, drawn)
    except ValueError as problem:
        raise OptionError(
            f"{what}: {problem}", hint="give more --samples, or a gamma nearer to 1"
        ) from problem


def _write(cases: list[PosteriorCase], settings: dict[str, Any], out: Path, force: bool) -> str:
    """Write the files; the report's text."""
    import json

    import syclade
    from syclade.host.output.files import write_files
    from syclade.quality.posterior.check import posterior_report
    from syclade.quality.posterior.plot import plot_posterior

    report = posterior_report(cases, {**settings, "version": syclade.__version__})
    plot_posterior(cases, out / FILES[1])
    text = json.dumps(report, indent=2)
    write_files(out, {FILES[0]: text + "\n"}, force)
    return text


def _print(cases: list[PosteriorCase], device: Device, encoding: str, out: Path) -> None:
    for case in cases:
        visits, steps = case.visits, case.steps
        rate = case.samples.steps / max(case.samples.seconds, 1e-9)
        click.echo(
            f"{case.target.size}, {len(case.target.trees)} trees, "
            f"gamma {case.target.plan.gamma:g}: {'holds' if case.holds else 'DOES NOT HOLD'}"
        )
        click.echo(f"  proposals: detailed balance {'holds' if case.balanced else 'is broken'}")
        click.echo(
            f"  visits: {visits.samples} samples, distance {visits.total_variation:.2e} "
            f"(expected {visits.expected_total_variation:.2e}, limit {visits.total_variation_limit:.2e}), "
            f"p = {visits.fit.p_value:.3g}; finds deviations from {visits.detectable_deviation:.1%}"
        )
        click.echo(
            f"  steps: {steps.steps} from {steps.rows} trees, p = {steps.p_value:.3g}, "
            f"{steps.impossible} impossible; finds deviations from {steps.detectable_deviation:.1%}"
        )
        click.echo(
            f"  {case.samples.steps} chain steps ({encoding}) on {device.filter} ({device.name}): "
            f"{case.samples.seconds:.1f} s, {rate / 1e3:.0f} ksteps/s"
        )
    click.echo(f"wrote {', '.join(str(out / name) for name in FILES)}")
