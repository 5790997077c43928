"""``syclade infscite``: a drop-in replacement for the program ``infSCITE``."""

from __future__ import annotations

import click

from syclade.host.commands.scite.command import Verbatim, run_call

__all__ = ["command"]


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
    from syclade.host.commands.infscite.dialect import dialect_of, lines_of
    from syclade.host.commands.scite.run import run_scite

    call = parse_arguments(arguments)
    return run_call(
        call,
        lambda report, stop: run_scite(call, report, stop, dialect_of(call)),
        lambda found: lines_of(call, found),
    )
