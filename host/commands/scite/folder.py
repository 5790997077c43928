"""Folder of SCITE's files: all names begin alike, and several runs may share the folder."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from syclade.host.answer.output.rescue import rescued
from syclade.host.commands.scite.arguments import SciteCall
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import is_folder, missing_directory, write_files
from syclade.host.ground.output_folder import OutputFolder, output_folder

__all__ = ["SciteFolder", "scite_folder"]

logger = logging.getLogger("syclade.scite")


class SciteFolder:
    """Folder of one run; see `scite_folder`.

    Args:
        folder: the folder.
        earlier: names of trees of an earlier run.
    """

    def __init__(self, folder: OutputFolder, earlier: list[str]) -> None:
        self._folder, self._earlier = folder, earlier

    def write(self, files: Callable[[], Mapping[str, Content]]) -> None:
        """Write all files; if that fails, write them to a folder of the user's.

        Args:
            files: returns the content by file name.

        Raises:
            OutputError: the files could not be written; the hint says where they are instead.
        """
        try:
            self._folder.write(files())
        except OutputError as error:
            raise rescued(error, lambda place: write_files(place, files())) from error
        if older := [name for name in self._earlier if name not in self._folder.written]:
            logger.warning("warning: %s: trees of an earlier run are still there", ", ".join(older))


@contextmanager
def scite_folder(call: SciteCall, kind: str) -> Iterator[SciteFolder]:
    """Open the folder of the files, before anything is computed. The number of trees is not known yet.

    Args:
        call: SCITE's arguments.
        kind: SCITE's part of the names of trees that stands for the score.

    Raises:
        OutputError: the files cannot be written, or their directory is missing; some exist already or are
            inputs; or another run with the same beginning of names is under way.
    """
    folder, name = call.prefix.parent, call.prefix.name
    if not name:
        raise OutputError(f"{call.prefix} names no file", hint="give -o the beginning of the files' names")
    if not os.path.lexists(folder):
        raise missing_directory(call.prefix)
    inputs = {"-i": call.matrix, "-names": call.names, "-t": call.true_tree}
    samples, earlier = f"{name}.samples", _trees(folder, f"{name}_{kind}")
    with output_folder(folder, (*earlier, samples), key=samples, force=call.force, apart=inputs) as opened:
        yield SciteFolder(opened, earlier)


def _trees(folder: Path, base: str) -> list[str]:
    """Return the names of files that are named like the trees of a run."""
    tree = re.compile(re.escape(base) + r"\d+\.(gv|newick)")
    if not is_folder(folder):
        return []
    return sorted(path.name for path in folder.iterdir() if tree.fullmatch(path.name))
