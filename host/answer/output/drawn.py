"""Figures of a result, and its tree for other programs: methods of results in memory and in folders."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import write_files
from syclade.host.ground.values import path_of

if TYPE_CHECKING:
    import matplotlib.figure

    from syclade.host.answer.figures.source import ResultFiles

__all__ = ["Drawn"]


class Drawn(ABC):
    """A result that can be drawn, and whose tree other programs read."""

    @abstractmethod
    def _figure_files(self) -> ResultFiles:
        """Return the files that figures show."""

    @abstractmethod
    def _protected(self) -> Mapping[str, object]:
        """Return the files that are never overwritten, by what they are."""

    def plot(
        self,
        kind: str | os.PathLike[str] = "tree",
        path: str | os.PathLike[str] | None = None,
        *,
        title: str = "",
        highlight: Sequence[str] = (),
        names: str | int = "auto",
        tree: str = "published",
        colours: str = "okabe-ito",
        width: float | None = None,
        font_size: float = 9.0,
        font: str = "",
        force: bool = False,
    ) -> matplotlib.figure.Figure:
        """Draw a figure with matplotlib; `syclade plot` draws the same ones (docs/figures.md).

        Args:
            kind: tree, matrix, clones, fish, posterior or convergence; or a path, for the tree in that file.
            path: a file to write the figure to; its extension gives the format, such as png, pdf or svg.
            title: title above the figure.
            highlight: names of mutations that stand first and in bold letters.
            names: most names of mutations that a clone shows besides, or auto, all or none.
            tree: published, the consensus where there is one; or likely, the most likely tree.
            colours: colours of the clones: okabe-ito, tol or grey.
            width: greatest width in millimetres; by default as wide as the figure needs to be.
            font_size: size of the letters, points.
            font: font of the letters; by default Arial, or the installed one that is most like it.
            force: whether to replace an existing file.

        Raises:
            OptionError: matplotlib is not installed (the extra `report`), it does not know the extension, or
                the result lacks what the figure shows.
            OutputError: the file exists and `force` is not given, or it cannot be written.
        """
        from syclade.host.answer.figures.canvas import room_of, written_figure
        from syclade.host.answer.figures.kinds import KINDS, draw_figure
        from syclade.host.answer.figures.style import Style

        if path is None and kind not in KINDS and Path(kind).suffix:
            kind, path = "tree", kind
        style = Style(title, highlight=tuple(highlight), colours=colours, room=room_of(width, font_size))
        scene = draw_figure(self._figure_files(), str(kind), style, names=names, tree=tree)
        place = None if path is None else path_of("the figure", path, OutputError)
        return written_figure(scene, place, force, self._protected(), width, font_size, font)

    def export_clones(
        self,
        program: str,
        directory: str | os.PathLike[str],
        *,
        highlight: Sequence[str] = (),
        colours: str = "okabe-ito",
        force: bool = False,
    ) -> list[str]:
        """Write the tree to publish and the shares of its clones for a program that draws them.

        Args:
            program: fishplot, timescape, clonevol, jellyfish or oncotreevis (docs/figures.md).
            directory: the directory for the files; created if necessary.
            highlight: names of mutations that the program shows as drivers.
            colours: as for `plot`.
            force: whether to replace existing files.

        Returns:
            The names of the files.

        Raises:
            OptionError: there is no such program, or it needs time points and the result has none.
            OutputError: the files exist and `force` is not given, or they cannot be written.
        """
        from syclade.host.answer.figures.exports import export_of
        from syclade.host.answer.figures.style import Style

        place = path_of("the directory", directory, OutputError)
        style = Style(highlight=tuple(highlight), colours=colours)
        found = export_of(self._figure_files(), program, style, place.name)
        write_files(place, found, force, self._protected())
        return list(found)

    def to_form(self, form: str, *, tree: str = "published") -> str:
        """Return a tree of clones in a form that other programs read with its support (docs/tree-tools.md).

        Args:
            form: nhx, figtree or phylo.
            tree: published, the consensus where there is one; or likely, the most likely tree.

        Raises:
            OptionError: there is no such form or tree, or its leaves are cells.
        """
        from syclade.host.answer.figures.exports import FORMS, tree_files

        return str(tree_files(self._figure_files(), form, tree)[FORMS[form]])
