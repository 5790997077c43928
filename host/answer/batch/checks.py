"""Checks of the options of a matrix, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syclade.host.answer.batch.names import is_there
from syclade.host.answer.batch.task import CODING, COLUMNS, Task
from syclade.host.answer.request.arguments import method_of
from syclade.host.data.input.formats import format_for
from syclade.host.device.choice import where_of
from syclade.host.findings.estimated_rates import AskedRates
from syclade.host.findings.kinds.named import kind_named, weights_of
from syclade.host.ground.errors import OptionError, TableError
from syclade.host.ground.options import OPTIONS, checked
from syclade.host.ground.supported import check_together

__all__ = ["check_matrices", "check_options"]

_RATES = ("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate", "merge_homozygous")


def check_matrices(table: Path, tasks: Sequence[Task]) -> None:
    """Check that a matrix of a table exists; one that does not fails in its own line.

    Args:
        table: the table.
        tasks: its tasks.

    Raises:
        TableError: none exists.
    """
    if not any(is_there(task.matrix) for task in tasks):
        raise TableError(
            f"none of its matrices exists, such as {tasks[0].matrix}",
            path=table,
            hint="paths in a table are relative to its folder",
        )


def check_options(options: dict[str, Any]) -> None:
    """Check the values of options, and that they go together, as far as that needs no matrix.

    Args:
        options: options by their names; those that are missing have their default.

    Raises:
        OptionError: an option is not one of a batch, has a bad value, or does not go with another.
    """
    for name, value in options.items():
        if name not in COLUMNS:
            raise OptionError(f"{name} is no option of a matrix of a batch")
        checked(name, value)
    given = {name: options.get(name, option.default) for name, option in OPTIONS.items()}
    check_together({**given, "out": ".", "method": method_of(given)})
    where_of(given["device"])
    if given["format"] != OPTIONS["format"].default:
        format_for(given["format"], [one for one in CODING if one != "format" and given[one] is not None])
    rates = AskedRates(**{name: given[name] for name in _RATES})
    rates.first()
    rates.check(device=given["device"])
    weights_of(kind_named(given["tree"]), given["move_probabilities"])
