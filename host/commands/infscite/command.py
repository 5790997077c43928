"""``syclade infscite``: a drop-in replacement for the program ``infSCITE``."""

from __future__ import annotations

from collections.abc import Callable

import click

from syclade.host.chains.runs.context import Stop
from syclade.host.chains.runs.pipeline import Progress
from syclade.host.commands.infscite.arguments import InfsciteCall
from syclade.host.commands.infscite.dialect import dialect_of
from syclade.host.commands.scite.command import Verbatim, run_call
from syclade.host.commands.scite.run import SciteOutcome, run_scite
from syclade.host.data.model.problem import Problem

__all__ = ["command", "lines_of", "run_infscite"]


@click.command("infscite", cls=Verbatim, add_help_option=False, options_metavar="FLAGS...")
def command(arguments: tuple[str, ...]) -> int:
    """Run ∞SCITE's chains with ∞SCITE's arguments; write its files and print its output.

    \b
    -i FILE -n ROWS -m COLUMNS    the matrix; its sizes are checked
    -r CHAINS -l STEPS            repetitions, and the steps of each
    -fd RATE -ad RATE [RATE]      false positives; allelic dropout, also of homozygous mutations
    -cc RATE                      homozygous observations without a mutation
    -d [RATE]                     doublets; without a rate, it is learned
    -rec K                        the K-th mutation occurs twice in the tree, or is lost; fixed rates only
    -s                            sum score instead of maximum score; -d implies it
    -e P                          a step changes an error rate with probability P
    -sd_beta SD -x X              prior of the rate of false negatives; its changes have SD / X
    -z [Z0 Z1] -sd_alpha SD       with -e, learn the rate of false positives, too; Z0 and Z1 are the counts
                                  of 0 and 1 at positions left out of the matrix
    -g GAMMA -seed SEED -move_probs P L S
    -names FILE                   names of the mutations, one per line
    -o BASE                       BASE_map0.gv, BASE_map0.newick, ..., BASE.samples
    -a                            attach the cells in the .gv files
    -max_treelist_size K          at most K trees; with -d, -z or -rec, there is one
    -no_tree_list                 only the score, no trees
    -p [K]                        sample every K steps, after a burn-in of a quarter of the steps
    -t FILE                       true tree; print the distance to it
    -transpose                    cell trees: BASE_ml0.newick
    --device NAME --force         syclade's own: where to run; replace existing files

    Ctrl-C or SIGTERM ends the run with the best trees so far. docs/coming-from-scite.md lists the
    differences.
    """
    from syclade.host.commands.infscite.arguments import parse_arguments
    from syclade.host.commands.infscite.command import lines_of, run_infscite

    call = parse_arguments(arguments)
    return run_call(
        call, lambda report, stop: run_infscite(call, report, stop), lambda found: lines_of(call, found)
    )


def run_infscite(
    call: InfsciteCall, report: Callable[[Progress, Problem], None], stop: Stop | None = None
) -> SciteOutcome:
    """Run ∞SCITE's command.

    Args:
        call: ∞SCITE's arguments.
        report, stop: as for `run_scite`.

    Raises:
        SycladeError: an argument or a file cannot be used; the error says what to do.
    """
    return run_scite(call, report, stop, dialect_of(call))


def lines_of(call: InfsciteCall, outcome: SciteOutcome) -> list[str]:
    """Return the lines of ∞SCITE's standard output, with its number of digits."""
    lines = [f"best log score for tree:\t{outcome.log_likelihood:.17g}"]
    lines.append(f"total #steps after burn-in:\t{outcome.steps_after_burn_in}")
    rates = {"fp_rate": call.fp_rate, "relevant": 0.0, "doublets": 0.0, **outcome.rates}
    if call.learn > 0.0:
        lines.append(f"best value for beta:\t{rates['fn_rate']:.17g}")
        lines.append(f"best value for alpha:\t{rates['fp_rate']:.17g}")
    if call.learn > 0.0 or call.doublets:
        lines.append(f"best relevant doublet rate:\t{rates['relevant']:.17g}")
        lines.append(f"best doublet rate:\t{rates['doublets']:.17g}")
    if call.learn > 0.0:
        lines.append(f"best log score for (T, theta):\t{outcome.with_prior:.17g}")
    if call.samples is not None:
        lines.append(f"samples from posterior written to: {call.prefix}.samples")
    if outcome.distance is not None:
        lines.append(f"distance to true tree:\t{outcome.distance}")
    kind = "map" if call.sum_score else "ml"
    lines.append(f"optimal trees written to files:    {call.prefix}_{kind}<INT>.gv")
    lines.append(f"{len(outcome.trees)} opt trees ")
    lines.append(f"Time elapsed: {outcome.milliseconds:.17g} ms")
    return lines
