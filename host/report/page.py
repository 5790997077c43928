"""The page itself: jinja2 with everything escaped, a strict policy, styles inside."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from syclade.host.errors import OptionError
from syclade.host.install import install_command
from syclade.host.report.clones import clones_of
from syclade.host.report.heat_map import COLOURS, data_address, in_order_of_tree, png_of
from syclade.host.report.sections import SECTIONS
from syclade.host.report.tree_svg import picture_of

if TYPE_CHECKING:
    from syclade.host.input.matrix import Matrix
    from syclade.host.output.result import Result

__all__ = ["report_of", "require_report"]


def require_report() -> None:
    """Check that the page can be made, before a long run.

    Raises:
        OptionError: jinja2 is not installed.
    """
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise OptionError("the report needs jinja2", hint=install_command("report")) from None


def report_of(result: Result, matrix: Matrix) -> str:
    """The page's HTML.

    Args:
        result: of an inference.
        matrix: that it was made from.

    Raises:
        OptionError: jinja2 is not installed.
    """
    require_report()
    import jinja2

    text = resources.files("syclade.host").joinpath("data/report/page.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    clones = clones_of(result.parents, result.attachment)
    shown = in_order_of_tree(matrix.values, result.parents, result.attachment)
    made = [section(result) for section in SECTIONS]
    return environment.from_string(text).render(
        result=result,
        tree=picture_of(clones, result.mutations),
        clones=len(clones),
        heat_map=data_address(png_of(shown)),
        legend=[(name, f"rgb{colour}") for name, colour in COLOURS.items()],
        sections=[section for section in made if section is not None],
    )
