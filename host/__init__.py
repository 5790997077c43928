"""Everything around the kernels: devices, files, pipeline, API and command line.

Eight rooms; each may import those below it (`[tool.importlinter]` in pyproject.toml):

- `commands`: the command line, SCITE's and ∞SCITE's, exports, the kernels that come with the package.
- `answer`: `infer` from its arguments to a result with its files and report; batches of inferences.
- `findings`: the parts of an answer: support, samples, consensus, co-optimal trees, estimated rates.
- `chains`: Markov chains and searches, their encodings, runners, checkpoints and stored samples.
- `calls`: variant calling and the tails of its tests; knows no trees.
- `data`: matrices of every format, trees, the model of observations, diagnostics of numbers.
- `device`: which devices exist, engines, compiled kernels, workarounds, workers.
- `ground`: errors, values, files, options; what every room may use.
"""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from warnings import warn

import syclade

# Python takes any folder named syclade for a package, even one without __init__.py, such as a clone seen from
# its parent folder.
if getattr(syclade, "__file__", None) is None:
    raise ImportError(
        f"Python took the folder {next(iter(syclade.__path__))} for the package syclade, which is only "
        "called so: start Python in another folder, or as python -P"
    )


_MOVED = {
    "syclade.host.consensus": "syclade.host.findings.consensus",
    "syclade.host.consensus.newick": "syclade.host.findings.consensus.tables",
    "syclade.host.cooptimal": "syclade.host.findings.cooptimal",
    "syclade.host.cooptimal.consensus": "syclade.host.findings.cooptimal.finding",
    "syclade.host.tails": "syclade.host.calls.tails",
}
"""Modules that the docs of 0.1 named, by their old names; removed with 0.3."""


def _is_package(name: str) -> bool:
    """Return whether an old name only leads to others."""
    return any(one.startswith(f"{name}.") for one in _MOVED)


class _OldNames(MetaPathFinder, Loader):
    """Imports of modules by their old names: a module with the content of the new one, and a warning."""

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a spec for an old name."""
        return ModuleSpec(fullname, self, is_package=_is_package(fullname)) if fullname in _MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module with the names of the one that took its place."""
        new = _MOVED[module.__name__]
        if not _is_package(module.__name__):
            warn(f"{module.__name__} is now {new}", DeprecationWarning, stacklevel=2)
        own = {"__name__", "__spec__", "__loader__", "__path__", "__package__", "__file__", "__cached__"}
        module.__dict__.update({k: v for k, v in vars(import_module(new)).items() if k not in own})


sys.meta_path.append(_OldNames())
