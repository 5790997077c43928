"""Delivery of a result: its files, its text on standard output, and its rescue if either fails."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.answer.output.rescue import Rescued, rescued
from syclade.host.answer.output.result_files import files_of
from syclade.host.commands.infer_text import tell
from syclade.host.commands.json_output import tell_json
from syclade.host.ground.errors import OutputError

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.ground.output_folder import OutputFolder

__all__ = ["deliver"]


def deliver(
    result: Result, folder: OutputFolder | None, also: Mapping[str, bool], *, quiet: bool, as_json: bool
) -> None:
    """Write the files and print the result, with the tree if it is in no file.

    Args:
        result: the result.
        folder: folder for the files; None for no files.
        also: files wanted besides: report, netcdf, multiqc.
        quiet: whether to print the log-likelihood only, unless the tree would be lost.
        as_json: whether to print JSON.

    Raises:
        OutputError: files or standard output cannot be written. The result is then in another folder, if one
            can be written to, and the hint names the folder.
    """

    def write(place: Path) -> None:
        result.write(place, **also)

    failure = None
    if folder is not None:
        try:
            folder.write(files_of(result, folder.path.name, **also))
        except OutputError as error:
            failure = rescued(error, write)
        except Exception as error:  # such as one of a library that draws the report
            reason = OutputError(f"a file of the result cannot be made: {type(error).__name__}: {error}")
            failure = rescued(reason, result.write)
    try:
        if as_json:
            tell_json(result)
        else:
            quiet = quiet and (failure is None or isinstance(failure, Rescued))
            tell(result, folder, quiet=quiet)
    except OutputError as error:
        if folder is not None and folder.written:
            raise OutputError(
                error.message, hint=f"the result is not lost: it is in {folder.path}"
            ) from error
        raise (failure or rescued(error, write)) from error
    if failure is not None:
        raise failure
