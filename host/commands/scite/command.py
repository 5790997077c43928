"""``syclade scite`` and ``syclade infscite``: drop-in replacements for ``scite`` and ``infSCITE``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import click

from syclade.host.commands.process import stopped_by_signals
from syclade.host.commands.progress import Show, progress_bar, show_log
from syclade.host.ground.values import counted

if TYPE_CHECKING:
    from syclade.host.chains.runs.clock import Progress
    from syclade.host.commands.scite.arguments import SciteCall
    from syclade.host.commands.scite.run import SciteOutcome
    from syclade.host.data.model.problem import Problem
    from syclade.host.ground.signals import Stop

    Report: TypeAlias = Callable[[Progress, Problem], None]

__all__ = ["Verbatim", "command", "infscite_command", "run_call"]


class Verbatim(click.Command):
    """A command that passes all arguments to SCITE's parser: click would read -names as five flags."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments as they are; show the help if it is wanted."""
        if {"-h", "--help"} & set(args):
            click.echo(ctx.get_help())
            ctx.exit()
        ctx.params["arguments"] = tuple(args)
        return []


@click.command("scite", cls=Verbatim, add_help_option=False, options_metavar="FLAGS...")
def command(arguments: tuple[str, ...]) -> int:
    """Run SCITE's chains with SCITE's arguments; write its files and print its output.

    \b
    -i FILE -n ROWS -m COLUMNS    the matrix; its sizes are checked
    -r CHAINS -l STEPS            repetitions, and the steps of each
    -fd RATE -ad RATE [RATE]      false positives; allelic dropout, also of homozygous mutations
    -cc RATE                      homozygous observations without a mutation
    -g GAMMA -seed SEED -move_probs P L S
    -names FILE                   names of the mutations, one per line
    -o BASE                       BASE_ml0.gv, BASE_ml0.newick, ..., BASE.samples
    -a                            attach the cells in the .gv files
    -max_treelist_size K          at most K trees
    -no_tree_list                 only the score, no trees
    -p [K]                        sample every K steps, after a burn-in of a quarter of the steps
    -t FILE                       true tree; print the distance to it
    -s                            sum score instead of maximum score
    -e P                          a step changes the rate of false negatives with probability P
    -sd SD -x X                   its prior's standard deviation; its changes have SD / X
    -transpose                    cell trees: BASE_ml0.newick
    --device NAME --force         syclade's own: where to run; replace existing files

    Ctrl-C or SIGTERM ends the run with the best trees so far. docs/coming-from-scite.md lists the
    differences.
    """
    from syclade.host.commands.scite.arguments import naming_flags, parse_arguments
    from syclade.host.commands.scite.run import run_scite

    with naming_flags("-sd"):
        call = parse_arguments(arguments)
        return run_call(
            call, lambda report, stop: run_scite(call, report, stop), lambda found: found.lines(call)
        )


def run_call(
    call: SciteCall,
    run: Callable[[Report, Stop], SciteOutcome],
    lines: Callable[[SciteOutcome], Iterable[str]],
) -> int:
    """Run a command with SCITE's arguments, with progress and signals; print its output, return its status.

    Args:
        call: the arguments.
        run: (progress callback, stop request) -> the outcome.
        lines: (outcome) -> lines of standard output.
    """
    from syclade.host.device.work import executed_on

    log = show_log(quiet=False, verbose=False)
    with stopped_by_signals() as stop:
        with progress_bar(False, log) as show:
            outcome = run(lambda state, problem: _show(show, state, problem), stop)
        if outcome.interrupted:
            click.echo(
                "syclade: warning: stopped before the end: these are the best trees until then", err=True
            )
        click.echo(
            f"syclade: {counted(call.chains, 'chain', 'chains')} of {counted(call.steps, 'step', 'steps')}"
            f"{executed_on(outcome.work)}",
            err=True,
        )
        for line in lines(outcome):
            click.echo(line)
    return stop.status


def _show(show: Show | None, state: Progress, problem: Problem) -> None:
    """Update the progress bar, if there is one."""
    if show is None:
        return
    from syclade.host.answer.inference import progress_of

    show(progress_of(state, problem.to_nats))


@click.command("infscite", cls=Verbatim, add_help_option=False, options_metavar="FLAGS...")
def infscite_command(arguments: tuple[str, ...]) -> int:
    """Run ∞SCITE's chains with ∞SCITE's arguments; write its files and print its output.

    \b
    -i FILE -n ROWS -m COLUMNS    the matrix; its sizes are checked
    -r CHAINS -l STEPS            repetitions, and the steps of each
    -fd RATE -ad RATE [RATE]      false positives; allelic dropout, also of homozygous mutations
    -cc RATE                      homozygous observations without a mutation
    -d [RATE]                     doublets; without a rate, it is learned
    -rec K                        the K-th mutation occurs twice in the tree, or is lost
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
    from syclade.host.commands.scite.arguments import naming_flags
    from syclade.host.commands.scite.infscite import dialect_of, parse_arguments
    from syclade.host.commands.scite.run import infscite_lines, run_scite

    with naming_flags("-sd_beta"):
        call = parse_arguments(arguments)
        return run_call(
            call,
            lambda report, stop: run_scite(call, report, stop, dialect_of(call)),
            lambda found: infscite_lines(call, found),
        )
