"""``syclade plot``: draw a figure of a result from the files in its folder."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from syclade.host.commands import options
from syclade.host.ground.errors import SycladeError

if TYPE_CHECKING:
    from syclade.host.answer.figures.scene import Scene

__all__ = ["command"]

PROGRAMS = ("fishplot", "timescape", "clonevol", "jellyfish", "oncotreevis")
PAGE = 297
"""Height of a page of A4, mm."""

DEFAULT_LETTERS = 9.0
"""Size of letters by default, points."""

KINDS = ("tree", "matrix", "clones", "fish", "posterior", "convergence")


@click.command("plot")
@click.argument("result", type=options.INPUT_FILE)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="tree",
    show_default=True,
    help="tree: the tree with the support, cells and share of each clone; matrix: the tree beside the "
    "matrix, cells grouped by clone; clones: their shares with intervals, in each specimen; fish: their "
    "shares over time points; posterior: how probable each order of two mutations is; convergence: "
    "searches, chains and diagnostics of the sampled trees.",
)
@click.option(
    "--tree",
    type=click.Choice(("published", "likely")),
    default="published",
    show_default=True,
    help="The tree to publish, which is the consensus where there is one; or the most likely tree.",
)
@click.option(
    "--to",
    type=click.Choice(PROGRAMS),
    default=None,
    help="Write the tree and the shares of its clones for another program in place of a figure; --out is "
    "then a directory (docs/figures.md).",
)
@options.take(
    "out",
    required=True,
    metavar="FILE",
    help="File of the figure; its extension gives the format: .svg, .pdf, .png and others.",
)
@click.option("--title", metavar="TEXT", default="", help="Title above the figure.")
@click.option(
    "--highlight",
    metavar="NAMES",
    default="",
    help="Names of mutations or genes, with commas between, that stand first and in bold letters. A name "
    "with a comma is in double quotes.",
)
@click.option(
    "--names",
    metavar="auto|all|none|N",
    default="auto",
    show_default=True,
    help="Most names of mutations that a clone shows, besides the highlighted ones.",
)
@click.option(
    "--colours",
    type=click.Choice(("okabe-ito", "tol", "grey")),
    default="okabe-ito",
    show_default=True,
    help="Colours of the clones; a clone has the same one in all figures.",
)
@click.option(
    "--width",
    type=click.FloatRange(20, 2000),
    metavar="MM",
    default=None,
    help="Greatest width of the figure in millimetres, such as 89 or 183 for a journal; labels are wrapped "
    "to fit. By default as wide as it needs to be.",
)
@click.option(
    "--font-size",
    type=click.FloatRange(3, 72),
    metavar="PT",
    default=DEFAULT_LETTERS,
    show_default=True,
    help="Size of the letters in points.",
)
@click.option("--font", metavar="NAME", default="", help="Font of the letters, such as Arial.")
@click.option(
    "--matrix",
    type=options.INPUT_FILE,
    metavar="FILE",
    default=None,
    help="The matrix of the run, if it is no longer where run.json says (--kind matrix).",
)
@options.take("force", help="Replace an existing file.")
@options.take("json")
def command(
    result: Path,
    kind: str,
    tree: str,
    to: str | None,
    out: Path,
    title: str,
    highlight: str,
    names: str,
    colours: str,
    width: float | None,
    font_size: float,
    font: str,
    matrix: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Draw a figure of RESULT, the folder that 'syclade infer --out' has written, or a tree in a file.

    The figure shows what the folder has: no result is computed again. A clone has the same number and colour
    in all figures, and the number that it has in clones.tsv. With --to, DIR gets the tree and the shares of
    its clones as another program reads them. Of a tree in a file (Newick, NEXUS,
    GraphViz) of any program, and of the folder of 'syclade consensus', there is the figure of the tree.
    """
    from syclade.host.answer.figures.canvas import (
        MILLIMETRES,
        POINTS,
        check_figure_file,
        fitted,
        room_of,
        write_figure,
    )
    from syclade.host.answer.figures.exports import export_of, shares_by_prior
    from syclade.host.answer.figures.kinds import check_kind, draw_figure, files_of_source
    from syclade.host.answer.figures.source import files_in
    from syclade.host.answer.figures.style import Style
    from syclade.host.commands.progress import show_log
    from syclade.host.data.input.names import listed_names
    from syclade.host.ground.files import write_files

    show_log(quiet=False, verbose=False)
    chosen = listed_names(highlight)
    inputs: dict[str, object] = {"RESULT": result, "--matrix": matrix}
    style = Style(title, highlight=chosen, colours=colours, room=room_of(width, font_size))
    if to is not None:
        files = files_in(result)
        found = export_of(files, to, style, result.resolve().name)
        write_files(out, found, force, inputs)
        for note in shares_by_prior(files):
            click.echo(f"syclade: warning: {note}", err=True)
        if as_json:
            click.echo(json.dumps({"to": to, "files": [str(out / name) for name in found]}, indent=2))
        else:
            click.echo(f"wrote {', '.join(found)} to {out}")
        return
    check_figure_file(out, force)
    check_kind(result, kind)
    files = files_of_source(result, matrix, "give its file with --matrix FILE")
    scene = draw_figure(files, kind, style, names=names, tree=tree)
    scale, letters = fitted(scene, width, font_size)
    write_figure(scene, out, force, inputs, scale=scale, font=font)
    across, down = (round(size * scale * MILLIMETRES / POINTS) for size in (scene.width, scene.height))
    if as_json:
        sizes = {"width_mm": across, "height_mm": down, "letters_pt": round(letters, 2)}
        click.echo(json.dumps({"kind": kind, "tree": tree, **sizes, "files": [str(out)]}, indent=2))
    else:
        click.echo(f"wrote {out}: {across} × {down} mm, letters of {letters:.3g} pt")
        if down > PAGE:
            size = _on_a_page(down, letters)
            advice = f"--font-size {size:g} fits one" if size else ""
            if not advice and kind == "tree":
                advice = _matrix_advice(lambda: draw_figure(files, "matrix", style, names=names, tree=tree))
            advice = advice or "no readable figure of it fits one: use a viewer that zooms"
            click.echo(f"syclade: {down} mm are more than a page; {advice}", err=True)


def _on_a_page(down: float, letters: float) -> float | None:
    """Return the size of letters with which a figure fits a page, points; None if they could not be read.

    Args:
        down: height of the figure in millimetres.
        letters: size of its letters, points.
    """
    from syclade.host.answer.figures.canvas import LEAST_LETTERS

    size = math.floor(10.0 * letters * PAGE / down) / 10.0
    return size if size >= LEAST_LETTERS else None


def _matrix_advice(draw: Callable[[], Scene]) -> str:
    """Return the options for the figure of the matrix if it fits a page; empty if it does not.

    Args:
        draw: draws the figure.
    """
    from syclade.host.answer.figures.canvas import MILLIMETRES, POINTS
    from syclade.host.answer.figures.scene import LETTERS

    try:
        scene = draw()
    except SycladeError:  # such as a matrix that is no longer there
        return ""
    letters = DEFAULT_LETTERS
    down = scene.height * letters / LETTERS * MILLIMETRES / POINTS
    if down <= PAGE:
        return f"--kind matrix takes {down:.0f} mm"
    size = _on_a_page(down, letters)
    return f"--kind matrix --font-size {size:g} fits one" if size else ""
