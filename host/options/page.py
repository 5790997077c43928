"""The page docs/options.md, from the tables: `python -m syclade.host.options.page > docs/options.md`."""

from __future__ import annotations

from collections.abc import Iterator

from syclade.host.options import flag_of
from syclade.host.options.table import GROUPS
from syclade.host.options.types import Option
from syclade.host.supported import EXCLUSIONS, FEATURES, NEEDS, title_of

__all__ = ["page"]

_HEAD = """# Options of `syclade infer`

`python -m syclade.host.options.page > docs/options.md` makes this page from `host/options/table.py` and
`host/supported.py`. Options marked * determine the result: they must be the same when a run is resumed. In
Python, the options are arguments of `syclade.infer`; those of the matrix are arguments of
`syclade.read_matrix`.
"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join((_HEAD, *_options(), *_together()))


def _options() -> Iterator[str]:
    for group, options in GROUPS.items():
        yield f"## {group}\n\n| option | in Python | values | default | |\n|---|---|---|---|---|"
        yield from map(_row, options)
        yield ""


def _row(option: Option) -> str:
    star = "*" if option.decides else ""
    flag = flag_of(option.name, option.metavar).replace("|", "\\|")
    default = "required" if option.required else _shown(option.default)
    help = option.help.replace("|", "\\|")
    python = f"`{option.name}`" if option.of else ""
    return f"| `{flag}`{star} | {python} | {option.type} | {default} | {help} |"


def _shown(default: object) -> str:
    if default is None or default is False:
        return ""
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def _together() -> Iterator[str]:
    yield "## What does not go together\n\n| option | does not go with | reason |\n|---|---|---|"
    for rule in EXCLUSIONS:
        others = ", ".join(map(_values_of, rule.others))
        yield f"| `{title_of(rule.feature)}` | {others} | {rule.why} |"
    yield "\n## What needs another option\n\n| option | needs | |\n|---|---|---|"
    for need in NEEDS:
        yield f"| `{title_of(need.feature)}` | `{title_of(need.needed)}` | {need.why} |"
    yield ""


def _values_of(feature: str) -> str:
    """Return a feature as Markdown, with each of its values."""
    name, values = FEATURES.get(feature, (feature, (None,)))
    return ", ".join(f"`{flag_of(name, value)}`" for value in values)


if __name__ == "__main__":
    print(page(), end="")
