"""Maximum-likelihood mutation trees of tumours, searched by a Markov chain on a SYCL device.

The names below are loaded when they are first used, so that ``import syclade`` is cheap.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # a checker takes it for typing's, which is slow to import

if TYPE_CHECKING:
    from syclade import quality
    from syclade.host.answer.batch.many import infer_many
    from syclade.host.answer.comparison import compare, compare_many, consensus
    from syclade.host.answer.figures.kinds import plot_tree
    from syclade.host.answer.inference import infer, infer_leaf
    from syclade.host.answer.output.load_result import LoadedResult, load_result
    from syclade.host.answer.output.result import Result
    from syclade.host.answer.scoring import score
    from syclade.host.calls.filter_calls import FilteredCalls, filter_calls
    from syclade.host.calls.request import CallRecord, Calls, call
    from syclade.host.chains.backends.stages.access import prepare_sycl, stage_kernel, stage_problem
    from syclade.host.commands.export.api import export
    from syclade.host.data.input.convert import convert, join
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.input.read_matrix import read_matrix
    from syclade.host.data.model.simulate import simulate
    from syclade.host.device.choice import devices
    from syclade.host.ground.errors import SycladeError
    from syclade.host.ground.signals import Stop
    from syclade.quality.bench.measure import bench
    from syclade.quality.design.api import design

    __version__: str

__all__ = [
    "CallRecord",
    "Calls",
    "FilteredCalls",
    "LoadedResult",
    "Matrix",
    "Result",
    "Stop",
    "SycladeError",
    "__version__",
    "bench",
    "call",
    "compare",
    "compare_many",
    "consensus",
    "convert",
    "design",
    "devices",
    "export",
    "filter_calls",
    "infer",
    "infer_leaf",
    "infer_many",
    "join",
    "load_result",
    "plot_tree",
    "prepare_sycl",
    "quality",
    "read_matrix",
    "score",
    "simulate",
    "stage_kernel",
    "stage_problem",
]

# Where each name lives; the one place to edit when a public name moves.
_HOME = {
    "CallRecord": "syclade.host.calls.request",
    "Calls": "syclade.host.calls.request",
    "FilteredCalls": "syclade.host.calls.filter_calls",
    "LoadedResult": "syclade.host.answer.output.load_result",
    "Matrix": "syclade.host.data.input.matrix",
    "Result": "syclade.host.answer.output.result",
    "Stop": "syclade.host.ground.signals",
    "SycladeError": "syclade.host.ground.errors",
    "bench": "syclade.quality.bench.measure",
    "call": "syclade.host.calls.request",
    "compare": "syclade.host.answer.comparison",
    "compare_many": "syclade.host.answer.comparison",
    "consensus": "syclade.host.answer.comparison",
    "convert": "syclade.host.data.input.convert",
    "design": "syclade.quality.design.api",
    "devices": "syclade.host.device.choice",
    "export": "syclade.host.commands.export.api",
    "filter_calls": "syclade.host.calls.filter_calls",
    "infer": "syclade.host.answer.inference",
    "infer_leaf": "syclade.host.answer.inference",
    "infer_many": "syclade.host.answer.batch.many",
    "join": "syclade.host.data.input.convert",
    "load_result": "syclade.host.answer.output.load_result",
    "plot_tree": "syclade.host.answer.figures.kinds",
    "prepare_sycl": "syclade.host.chains.backends.stages.access",
    "read_matrix": "syclade.host.data.input.read_matrix",
    "score": "syclade.host.answer.scoring",
    "simulate": "syclade.host.data.model.simulate",
    "stage_kernel": "syclade.host.chains.backends.stages.access",
    "stage_problem": "syclade.host.chains.backends.stages.access",
}


# Hidden from type checkers, which would take any name for one of ours.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public name at its first use."""
        value: object
        if name == "__version__":
            # Without its metadata the package works as well: a run must not end for want of a number.
            from syclade.host.ground.packages import version_of

            value = version_of("syclade") or "unknown"
        elif name == "quality":
            value = import_module("syclade.quality")
        elif name in _HOME:
            value = getattr(import_module(_HOME[name]), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(set(globals()) | set(__all__))
