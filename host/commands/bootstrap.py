"""``syclade bootstrap``: support of a tree by resampled matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.host.commands.batch import JOBS, PREPARE, run_here
from syclade.host.ground.options import CODING, OPTIONS

__all__ = ["command"]

_LEFT_OUT = (
    "tree", "recurrent", "true_tree", "attach", "max_trees", "samples", "burn_in", "netcdf", "checkpoint",
    "checkpoint_every", "resume", "trace", "multiqc", "out",
)  # fmt: skip
"""Options of single runs; and of those whose trees have other nodes than the mutations."""


@click.command("bootstrap")
@click.argument("matrix", type=options.MATRIX)
@click.option(
    "--resample",
    type=click.Choice(("cells", "mutations")),
    required=True,
    help="What replicates draw with replacement: the columns or the rows of the matrix.",
)
@click.option(
    "--replicates", type=click.IntRange(1, 10**6), default=100, show_default=True, metavar="N",
    help="Number of replicates.",
)  # fmt: skip
@options.take(*(name for name in OPTIONS if name not in _LEFT_OUT))
@options.take("out", required=True, help="Directory for the batch; created if necessary.")
@JOBS
@PREPARE
def command(
    matrix: Any,
    names: Path | None,
    resample: str,
    replicates: int,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    jobs: int | None,
    prepare: bool,
    scheduler: str | None,
    **given: Any,
) -> int:
    """Infer the tree of MATRIX and of N resampled matrices, and write how many of these have its edges.

    It is a batch (syclade batch): DIR/original and DIR/replicate_1, … get the files of each matrix, and
    given again, the command infers only what is missing. DIR gets bootstrap.tsv and bootstrap.gv (support of
    the edges of the original matrix's tree), ancestors.tsv (of its pairs of ancestor and descendant) and,
    if cells are drawn, the consensus of the replicates (consensus.newick, clones.tsv, relations.tsv,
    cells.tsv). --seed is also the seed of the draws.
    """
    from syclade.host.answer.batch.bootstrap import Resampling, tasks_of_bootstrap
    from syclade.host.answer.batch.folder import Batch
    from syclade.host.answer.batch.task import check_options
    from syclade.host.commands.batch import absolute
    from syclade.host.commands.infer import require_libraries
    from syclade.host.data.input.read_matrix import read_matrix

    coding = {name: given.pop(name) for name in (*CODING, "cell_names")}
    common = absolute(options.options_from(given))
    require_libraries({"report": common.report, "netcdf": False})
    check_options(common)
    observed = read_matrix(matrix, names, **coding)
    resampling = Resampling(resample, replicates, common.seed)
    tasks, made = tasks_of_bootstrap(observed, resampling, out, common)
    return run_here(
        Batch(out, tasks, common.report, resampling=resampling, made=made),
        scheduler=scheduler, jobs=jobs, prepare=prepare, force=force, as_json=as_json, quiet=quiet,
        verbose=verbose,
    )  # fmt: skip
