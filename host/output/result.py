"""What an inference gives: the tree, its score, how it was found, and files of all that."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.found import Search
from syclade.host.devices.work import WithWork, WorkDone, executed_on
from syclade.host.errors import OutputError
from syclade.host.input.matrix import Matrix
from syclade.host.model.attachment import Attachments
from syclade.host.model.rates import Rates
from syclade.host.output.files import write_files
from syclade.host.trees.cells import attached_cells
from syclade.host.values import path_of

if TYPE_CHECKING:
    import anndata
    import matplotlib.figure
    import networkx

    from syclade.host.cooptimal.plateau import CoOptimal
    from syclade.host.samples.sampled import Sampled

__all__ = ["Result"]

_ARRAYS = ("parents", "attachment", "attachment_ties", "cell_log_likelihoods", "chain_log_likelihoods")


@dataclass(frozen=True, eq=False, repr=False)
class Result(WithWork):
    """The outcome of an inference: a value that is equal to itself only, and whose arrays cannot be written.

    Attributes:
        parents: int32, shape (n + 1,): parent of every mutation; the root is node n, its own parent.
        log_likelihood: of the tree, natural log, float64, recomputed from counts of events.
        mutations: names of the mutations, in the order of the matrix's rows.
        cells: names of the cells, in the order of its columns; SCITE's s0, s1, … where none were given.
        attachment: int32, shape (cells,): the best node of every cell, in the order of the matrix's columns;
            the root is node n. Of equally good nodes it is the first in preorder, so that none is above it.
        attachment_ties: int32, shape (cells,): how many nodes are equally good, that one included.
        cell_log_likelihoods: float64, shape (cells,): of every cell at its node, natural log.
        rates: the error rates.
        chain_log_likelihoods: float64, shape (chains,): the best of every chain, from its integer score.
        moves: for each kind of move, steps (proposed, accepted) over all chains.
        chains, seed, gamma: as asked.
        move_probabilities: by the moves' names, scaled to sum 1.
        steps: that every chain has done.
        converged: whether four searches (half of fewer), from two different starts, found the best score; or
            else whether the chains agree on it (`convergence.StoppingRule`); a single chain never does.
        encoding: how trees stood in the device's memory.
        work: what each executor did in this process, in order: chain steps, and sweeps of searches. Empty
            for a resumed run that had ended before.
        searches: how each search began, and the log-likelihood of its best tree (for rounded weights); none
            where chains alone ran. The chains are then short ones that some searches start from.
        slots: chain states, or searches, on the device at once.
        seconds: wall time of chains and searches, without start-up.
        matrix: the file or stream of the matrix, as it was named; None for an array.
        matrix_sha256: of its values as a text in SCITE's format, in hexadecimal: the same from any format.
        matrix_file_sha256: of the bytes of that file; None for an array.
        options: what `infer` was asked, by the names of its arguments; None stands for what was left out.
        date: when the inference ended, ISO 8601 in UTC.
        version: of syclade.
        interrupted: whether the run was stopped before its end; the tree is the best until then.
        co_optimal: trees that are as likely, if they were asked for; the first is this one.
        samples: what the chains sampled, if that was asked for.
        observed: the matrix.
        true_tree: how the tree compares with the true one, if that was given (`trees.truth.compare`).
        score: what the log-likelihood is: max, every cell at its best node, or sum, at all nodes.
        attachment_posteriors: float64, shape (cells,), of the score sum: the probability of every cell's best
            node, given the tree.
        learned: where rates were learned, `rates` are those with the best tree, and this tells of each its
            value and its prior, and `log_prior`, the logarithm of the priors' density. What is best, of
            chains as well, is the sum of log-likelihood and this.
    """

    parents: NDArray[np.int32]
    log_likelihood: float
    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    attachment: NDArray[np.int32]
    attachment_ties: NDArray[np.int32]
    cell_log_likelihoods: NDArray[np.float64]
    rates: Rates
    chain_log_likelihoods: NDArray[np.float64]
    moves: dict[str, tuple[int, int]]
    chains: int
    steps: int
    converged: bool
    seed: int
    gamma: float
    move_probabilities: Mapping[str, float]
    encoding: str
    work: tuple[WorkDone, ...]
    searches: tuple[Search, ...]
    slots: int
    seconds: float
    matrix: str | None
    matrix_sha256: str
    matrix_file_sha256: str | None
    options: Mapping[str, Any]
    date: str
    version: str
    interrupted: bool = False
    co_optimal: CoOptimal | None = None
    samples: Sampled | None = None
    observed: Matrix | None = None
    true_tree: Mapping[str, Any] | None = None
    score: str = "max"
    attachment_posteriors: NDArray[np.float64] | None = None
    learned: Mapping[str, Any] | None = None
    pipeline: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Own copies of the arrays, which nobody can change."""
        for name in _ARRAYS:
            own = getattr(self, name).copy()
            own.flags.writeable = False
            object.__setattr__(self, name, own)

    def __repr__(self) -> str:
        """In a line, without the arrays."""
        ended = "converged" if self.converged else "not converged"
        return (
            f"<Result: log-likelihood {self.log_likelihood:.4f}, {len(self.mutations)} mutations × "
            f"{self.n_cells} cells, {self.runs}{executed_on(self.work)}, "
            f"the best score in {self.agreeing} of them: {ended}>"
        )

    @property
    def runs(self) -> str:
        """What was done, in words."""
        if self.searches:
            return f"{len(self.searches)} searches"
        return f"{self.chains} chains of {self.steps} steps"

    @property
    def agreeing(self) -> int:
        """How many searches, or chains, have found the best score."""
        found = [one.log_likelihood for one in self.searches] or self.chain_log_likelihoods.tolist()
        return found.count(max(found))

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.attachment)

    def to_networkx(self) -> networkx.DiGraph[str]:
        """The tree as a directed graph from the root downwards; nodes are mutation names and the root."""
        from syclade.host.trees.tree import to_networkx

        return to_networkx(self.parents, self.mutations)

    def to_newick(self, *, attach: bool | None = None) -> str:
        """The tree in Newick format, every node labelled.

        Args:
            attach: hang the cells below their nodes, as leaves; None does as `infer` was asked.

        Raises:
            MatrixError: a cell is called like a node.
        """
        from syclade.host.trees.newick import to_newick

        return to_newick(self.parents, self.mutations, self._attached(attach))

    def to_graphviz(self, *, attach: bool | None = None) -> str:
        """The tree in GraphViz's dot language; arguments and errors as those of `to_newick`."""
        from syclade.host.trees.graphviz import to_graphviz

        return to_graphviz(self.parents, self.mutations, self._attached(attach))

    def _attached(self, attach: bool | None) -> list[list[str]] | None:
        """The names of the cells that hang at each node, if they shall."""
        if not (self.options.get("attach", False) if attach is None else attach):
            return None
        return attached_cells(self.attachment.tolist(), self.cells, self.mutations)

    def to_attachments(self) -> str:
        """Where every cell sits: tab-separated, a line a cell (`host/output/attachments.py`)."""
        from syclade.host.output.attachments import format_attachments

        of_cells = Attachments(
            self.attachment, self.attachment_ties, self.cell_log_likelihoods, self.attachment_posteriors
        )
        return format_attachments(of_cells, self.mutations, self.cells)

    def summary(self) -> dict[str, Any]:
        """What equal runs share, whatever their device and slots: plain values, as in summary.json."""
        from syclade.host.output.summary import summary_of

        return summary_of(self)

    def run(self) -> dict[str, Any]:
        """What is this run's own: device, times, versions, all options, as in run.json."""
        from syclade.host.output.summary import run_of

        return run_of(self)

    def report(self) -> str:
        """All of it as one page of HTML, without scripts or anything from outside.

        Raises:
            OptionError: jinja2 is not installed (the extra `report`).
        """
        from syclade.host.report.page import report_of

        assert self.observed is not None
        return report_of(self, self.observed)

    def _repr_html_(self) -> str:
        """What a notebook shows: this in a line, and the tree with the matrix beside it."""
        from syclade.host.report.page import notebook_of

        return notebook_of(self)

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, force: bool = False
    ) -> matplotlib.figure.Figure:
        """The tree with the matrix beside it, as a figure of matplotlib.

        Args:
            path: a file to write it to, too; its ending says in which format: png, pdf, svg.
            force: replace a file that is there.

        Raises:
            OptionError: matplotlib is not installed (the extra `report`), or it does not know the ending.
            OutputError: the file is there and force is not given, or it cannot be written.
        """
        from syclade.host.report.plot import plot_of, write_plot

        figure = plot_of(self)
        if path is not None:
            write_plot(figure, path_of("the figure", path, OutputError), force)
        return figure

    def to_anndata(self) -> anndata.AnnData:
        """Matrix, tree and cells as an AnnData (`host/output/anndata.py`).

        Raises:
            OptionError: anndata is not installed (the extra `io`).
        """
        from syclade.host.output.anndata import anndata_of

        return anndata_of(self)

    @property
    def trees(self) -> NDArray[np.int32]:
        """int32, shape (trees, n + 1): the co-optimal trees, if they were asked for; else this one alone."""
        found = self.parents[None] if self.co_optimal is None else self.co_optimal.trees
        trees = found.copy()
        trees.flags.writeable = False
        return trees

    def to_netcdf(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the samples as netCDF (docs/samples.md), whole or not at all.

        Args:
            path: the file; its folder is made if need be.
            force: replace a file that is there.

        Raises:
            OptionError: there are no samples, or h5netcdf and h5py (the extra `samples`) are not installed.
            OutputError: the file is there and force is not given, or it cannot be written.
        """
        from syclade.host.output.result_files import netcdf_of

        place = path_of("the netCDF file", path, OutputError)
        write_files(place.parent, {place.name: netcdf_of(self)}, force)

    def write(
        self,
        directory: str | os.PathLike[str],
        *,
        force: bool = False,
        report: bool = False,
        netcdf: bool = False,
        multiqc: bool = False,
    ) -> None:
        """Write tree.newick, tree.gv, attachments.tsv, summary.json and run.json.

        Args:
            directory: made if need be.
            force: replace files that are there.
            report: write report.html as well.
            netcdf: write samples.nc as well.
            multiqc: write syclade_mqc.json as well, which MultiQC shows as a table.

        Raises:
            OptionError: netcdf, and there are no samples, or what writes them is not installed.
            OutputError: files are there and force is not given, or they cannot be written.
        """
        from syclade.host.output.result_files import files_of

        place = path_of("the directory", directory, OutputError)
        files = files_of(self, place.name, report=report, netcdf=netcdf, multiqc=multiqc)
        write_files(place, files, force)
