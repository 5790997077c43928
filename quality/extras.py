"""What the quality checks need beyond the package's own dependencies, asked for before a long run."""

from __future__ import annotations

from importlib.util import find_spec

from syclade.host.errors import OptionError

__all__ = ["require_extras"]


def require_extras() -> None:
    """Check that matplotlib and statsmodels are installed.

    Raises:
        OptionError: one is not.
    """
    absent = [name for name in ("matplotlib", "statsmodels") if find_spec(name) is None]
    if absent:
        raise OptionError(
            f"this check needs {' and '.join(absent)}", hint="pip install 'syclade[quality]', then try again"
        )
