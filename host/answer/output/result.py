"""Result of an inference: the tree, its score, how it was found, and files of all of these."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.output.drawn import Drawn
from syclade.host.answer.output.result_properties import AssignedTree, doubt_of
from syclade.host.chains.runs.context import CO_OPTIMAL, RECURRENCE, SUPPORT, TREE, Search
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.rates import ObservationModel, Rates, error_rates
from syclade.host.device.work import WithWork, WorkDone, executed_on
from syclade.host.findings.finding import Finding
from syclade.host.findings.kinds import TreeKind
from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import write_file
from syclade.host.ground.values import counted, freeze_arrays, path_of

if TYPE_CHECKING:
    import anndata

    from syclade.host.answer.figures.source import ResultFiles
    from syclade.host.chains.backends.stages.launcher import PipelineReport

__all__ = ["Result"]

_LACKS = {
    TREE: "this is the best tree until then",
    SUPPORT: "the tree is complete, but has no support",
    CO_OPTIMAL: "the tree is complete, but more trees may be as likely",
    RECURRENCE: "the tree is complete, but recurrence was not tested",
}
_SHORT = "the tree is complete, but its support is that of the samples until then"

_ARRAYS = ("parents", "chain_log_likelihoods")


@dataclass(frozen=True, eq=False, repr=False)
class Result(AssignedTree, WithWork, Drawn):
    """The result of an inference, with read-only arrays; results are compared by identity.

    Attributes:
        kind: kind of the tree.
        parents: int32, shape (nodes,): parent of every node; the last node is the root, its own parent. Of a
            mutation tree, nodes 0 … n-1 are the mutations, and n is the root. Of a cell tree, nodes 0 … m-1
            are the cells; the m - 1 internal nodes follow in an order that depends on the tree only, each
            after those below it.
        log_likelihood: log-likelihood of the tree, natural log, float64, recomputed from counts of events.
        assignment: the best node of every cell of a mutation tree, or the best edge of every mutation of a
            cell tree (see `Assignment`).
        mutations: names of the mutations, in the order of the rows of the matrix; the last one is the copy of
            a recurrent mutation, if there is one (`measured` is without it).
        cells: names of the cells, in the order of the columns; SCITE's s0, s1, … if none were given.
        model: the error rates, or the levels of evidence (`rates` has the former).
        chain_log_likelihoods: float64, shape (chains,): the best of every chain, natural log, from its
            integer score.
        moves: for each kind of move, the numbers of steps (proposed, accepted) over all chains.
        chains: number of chains.
        seed, gamma: as given.
        move_probabilities: probability of each move, by name; they sum to 1.
        steps: number of steps of every chain.
        converged: with searches, whether four of them (half if there are fewer), from two different starts,
            found the best score. Without, whether the chains agree on it (`convergence.StoppingRule`); a
            single chain never does.
        encoding: encoding of trees in the device's memory.
        work: work of each executor in this process, in order: chain steps, and sweeps of searches. Empty for
            a resumed run that had already ended.
        searches: start of each search, and log-likelihood of its best tree (for rounded weights). Empty if
            only chains ran. With searches, the chains are short ones that some searches start from.
        slots: number of chain states, or searches, on the device at once.
        seconds: wall time of chains and searches in seconds, without start-up.
        total_seconds: wall time of the whole inference in seconds, with the estimate of rates and support.
        stages: wall time of each part of it, by name, in order: `preparation` (matrix, device and rates),
            `tree`, `support`, `consensus`, and so on.
        matrix: name of the file or stream of the matrix, as given; None for an array.
        matrix_sha256: SHA-256 of the values as a text in SCITE's format, in hexadecimal; independent of the
            format of the file.
        matrix_file_sha256: SHA-256 of the bytes of that file; None for an array.
        options: options of `infer`, by the names of its arguments; None for those not given.
        date: end of the inference, ISO 8601 in UTC.
        version: version of syclade.
        observed: the matrix.
        score: score of the log-likelihood: max, each cell at its best node; sum, each cell at all nodes; or
            doublets, each cell at all nodes and pairs of nodes.
        learned: value and prior of each learned rate, and `log_prior`, the logarithm of the density of the
            priors; None if no rate was learned. `rates` then has the rates of the best tree. The best tree,
            of a chain as well, maximises the sum of log-likelihood and `log_prior`.
        findings: what was found about the tree, in the order in which it is shown (`answer/stages.py`).
        stopped_in: first stage that a stop request has cut short or left out: tree (it is then the best so
            far), support, co_optimal or recurrence; None if the run went to its end.
        pipeline: utilisation of the pipeline of separate stages (`StagedRunner.report`); None for fused
            stages.
    """

    kind: TreeKind
    parents: NDArray[np.int32]
    log_likelihood: float
    assignment: Assignment
    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    model: ObservationModel
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
    observed: Matrix
    score: str
    learned: Mapping[str, Any] | None
    findings: tuple[Finding, ...]
    stopped_in: str | None
    pipeline: PipelineReport | None
    total_seconds: float
    stages: Mapping[str, float]

    def __post_init__(self) -> None:
        """Replace the arrays by read-only copies."""
        freeze_arrays(self, _ARRAYS)

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore a pickled result; its arrays are read-only again."""
        self.__dict__.update(state)
        freeze_arrays(self, _ARRAYS)

    def __repr__(self) -> str:
        """Return a summary in one line, without the arrays."""
        ended = "converged" if self.converged else "not converged"
        mutations = counted(len(self.measured), "mutation", "mutations")
        return (
            f"<Result: log-likelihood {self.log_likelihood:.4f}, {mutations} × "
            f"{counted(self.n_cells, 'cell', 'cells')}, {self.ran}, "
            f"the best score in {self.agreeing} of them: {ended}>"
        )

    @property
    def rates(self) -> Rates:
        """The error rates; an OptionError if the run was of evidence, which has none."""
        return error_rates(self.model)

    @property
    def interrupted(self) -> bool:
        """True if the run was stopped before its end."""
        return self.stopped_in is not None

    @property
    def stop_words(self) -> str | None:
        """Message about stages that a stop request cut short or left out; None if the run was not stopped."""
        if self.stopped_in is None:
            return None
        short = self.stopped_in == SUPPORT and self.support is not None
        return f"stopped before the end: {_SHORT if short else _LACKS[self.stopped_in]}"

    @property
    def warnings(self) -> list[str]:
        """Reasons to doubt the result: what a stop left out, and those of its findings and its searches."""
        stopped, doubt = self.stop_words, doubt_of(self)
        of_findings = (words for finding in self.findings for words in finding.warnings)
        return [*([] if stopped is None else [stopped]), *of_findings, *([] if doubt is None else [doubt])]

    @property
    def new_warnings(self) -> list[str]:
        """Those of `warnings` that were not logged when the input was read."""
        logged = [*self.observed.warnings, *self.unplaced.warnings(self.mutations, self.cells)]
        return [words for words in self.warnings if words not in logged]

    @property
    def runs(self) -> str:
        """Numbers of searches, or of chains and steps, as text."""
        if self.searches:
            return counted(len(self.searches), "search", "searches")
        if not self.chains:
            return "no whole search"  # a stop came while parameters were estimated, which gave a tree
        begun = " from the trees of searches" if self.options.get("start") == "search" else ""
        annealed = "annealed " if self.options.get("method") == "anneal" else ""
        chains = counted(self.chains, f"{annealed}chain", f"{annealed}chains")
        return f"{chains} of {counted(self.steps, 'step', 'steps')}{begun}"

    @property
    def run_count(self) -> int:
        """Number of searches, or of chains; 0 if a stop came before."""
        return len(self.searches) or self.chains

    @property
    def ran(self) -> str:
        """Numbers of searches, or of chains and steps, and the devices that did them, as text."""
        begun = self.work or self.searches or self.steps  # a stop may come before the first step
        return self.runs + (executed_on(self.work) if begun else "")

    @property
    def agreeing(self) -> int:
        """Number of searches, or chains, that found the best score; searches of evidence, almost the best."""
        found = [one.log_likelihood for one in self.searches]
        if not found:
            of_chains: list[float] = self.chain_log_likelihoods.tolist()
            return of_chains.count(max(of_chains, default=0.0))
        return sum(one >= max(found) - self.model.same for one in found)

    def summary(self) -> dict[str, Any]:
        """Return the content of summary.json as plain values: the same for equal runs on any device."""
        from syclade.host.answer.output.result_files import summary_of

        return summary_of(self)

    def run(self) -> dict[str, Any]:
        """Return the content of run.json as plain values: device, times, versions and options."""
        from syclade.host.answer.output.result_files import run_of

        return run_of(self)

    def report(self, *, title: str = "", highlight: Sequence[str] = ()) -> str:
        """Return a report: one HTML page without scripts or external resources.

        Args:
            title: title of the page, such as the name of a patient.
            highlight: names of mutations to name first, and to give the order of.

        Raises:
            OptionError: jinja2 is not installed (the extra `report`).
        """
        from syclade.host.answer.report.page import report_of

        return report_of(self, title=title, highlight=highlight)

    def _repr_html_(self) -> str:
        """Return the display in a notebook: a line of text, and the tree with the matrix beside it."""
        from syclade.host.answer.report.page import notebook_of

        return notebook_of(self)

    def _figure_files(self) -> ResultFiles:
        from syclade.host.answer.figures.source import files_in_memory

        return files_in_memory(self)

    def _protected(self) -> Mapping[str, object]:
        from syclade.host.answer.output.result_files import inputs_of

        return inputs_of(self)

    def to_anndata(self) -> anndata.AnnData:
        """Return matrix, tree and cells as an AnnData (`host/answer/output/anndata.py`).

        Raises:
            OptionError: anndata is not installed (the extra `io`).
        """
        from syclade.host.answer.output.anndata import anndata_of

        return anndata_of(self)

    def to_netcdf(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the samples as netCDF (docs/samples.md); the write is atomic.

        Args:
            path: the file, in a folder that exists.
            force: whether to replace an existing file.

        Raises:
            OptionError: there are no samples, or h5netcdf and h5py (the extra `samples`) are not installed.
            OutputError: the file exists and `force` is not given, or it cannot be written.
        """
        from syclade.host.answer.output.result_files import inputs_of, netcdf_of

        place = path_of("the netCDF file", path, OutputError)
        write_file(place, netcdf_of(self), force, inputs_of(self))

    def write(
        self,
        directory: str | os.PathLike[str],
        *,
        force: bool = False,
        report: bool = False,
        netcdf: bool = False,
        multiqc: bool = False,
        anndata: bool = False,
        title: str = "",
        highlight: Sequence[str] = (),
    ) -> list[str]:
        """Write the tree, attachments.tsv (of a cell tree placements.tsv), summary.json and run.json.

        Results with samples or co-optimal trees write their files, too.

        Args:
            directory: the directory for the files; created if necessary.
            force: whether to replace existing files, and to remove those that an earlier result has recorded
                in run.json.
            report: whether to write report.html, too.
            netcdf: whether to write samples.nc, too.
            multiqc: whether to write syclade_mqc.json, too, which MultiQC shows as a table.
            anndata: whether to write result.h5ad, too.
            title, highlight: as for `report`.

        Returns:
            The names of the files.

        Raises:
            OptionError: a library is not installed: for `report` jinja2, for `netcdf` h5netcdf
                or h5py; or `netcdf` is given without samples.
            OutputError: files exist and `force` is not given; a file would overwrite an input; another run
                is writing to the directory; or files cannot be written. If only some of those besides cannot
                be made, all others are written.
        """
        from syclade.host.answer.output.result_files import folder_of_result, inputs_of, write_result

        place = path_of("the directory", directory, OutputError)
        wanted = {
            "report": report,
            "netcdf": netcdf,
            "multiqc": multiqc,
            "anndata": anndata,
            "title": title,
            "highlight": highlight,
        }
        with folder_of_result(place, (), force=force, protected=inputs_of(self)) as folder:
            return write_result(self, folder, wanted)
