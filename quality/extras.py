"""Optional packages that commands need, checked before a long run."""

from __future__ import annotations

from importlib.util import find_spec

from syclade.host.ground.errors import OptionError
from syclade.host.ground.packages import install_command

__all__ = ["QUALITY", "require_extras"]

QUALITY = ("matplotlib", "statsmodels")


def require_extras(*names: str) -> None:
    """Check that packages of the extra `quality` are installed.

    Args:
        names: the packages; by default all that the quality checks need.

    Raises:
        OptionError: a package is not installed.
    """
    absent = [name for name in names or QUALITY if find_spec(name) is None]
    if absent:
        command = install_command("quality")
        raise OptionError(f"this needs {' and '.join(absent)}", hint=f"{command}, then try again")
