"""Checks of the results: comparison with SCITE, the exact posterior, an oracle, measurements, the FPGA model.

`tost` and `posterior` are the two checks as Python functions (docs/quality.md). They share their names with
the folders that hold their parts; import those parts as ``syclade.quality.tost.runs`` and so on.
"""

from __future__ import annotations

from importlib import import_module

# Import the functions first: the first import from one of these folders binds the same name to the package.
from syclade.quality.posterior.api import posterior
from syclade.quality.tost.api import tost

TYPE_CHECKING = False  # type checkers treat it as typing.TYPE_CHECKING; typing is slow to import

if TYPE_CHECKING:
    from syclade.quality.posterior.result import PosteriorResult
    from syclade.quality.tost.result import TostResult

__all__ = ["PosteriorResult", "TostResult", "posterior", "tost"]

_HOME = {
    "PosteriorResult": "syclade.quality.posterior.result",
    "TostResult": "syclade.quality.tost.result",
}

# Hidden from type checkers, which would otherwise accept any attribute name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public class on first use."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOME[name]), name)
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(set(globals()) | set(__all__))
