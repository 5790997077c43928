"""The page docs/options.md, made of the tables; `python -m tests.support.options_page` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from syclade.host.ground.options import OPTIONS, flag_of
from syclade.host.ground.options.calls import (
    CALL_FILES,
    CALL_SHARED,
    OWN_OPTIONS,
    REFUSED,
    CallOptions,
    call_flag,
)
from syclade.host.ground.options.table import GROUPS
from syclade.host.ground.options.types import Option
from syclade.host.ground.supported import EXCLUSIONS, FEATURES, NEEDS, title_of

__all__ = ["page"]

_HEAD = """# Options of `syclade infer` and `syclade call`

`python -m tests.support.options_page > docs/options.md` makes this page from tables in
`host/ground/`: `options/` and `supported.py`. First come the options of `syclade infer`; those of
[`syclade call`](#syclade-call) are at the end. Options marked * determine the result: they must be the same
when a run is resumed. In Python, the options are arguments of `syclade.infer`; those of the matrix are
arguments of `syclade.read_matrix`.
"""

_CALL = """## `syclade call`

Letters, names and defaults are those of [LoFreq](variants.md#options), except of options marked †, which
LoFreq lacks.

| option | values | default | meaning |
|---|---|---|---|"""

_NEW = ("sites", "normal", "dbsnp", *OWN_OPTIONS, *(name for name in CALL_SHARED if name != "verbose"))
"""Options of `syclade call` that LoFreq lacks."""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join((_HEAD, *_options(), *_together(), *_call()))


def _options() -> Iterator[str]:
    for group, options in GROUPS.items():
        yield f"## {group}\n\n| option | in Python | values | default | meaning |\n|---|---|---|---|---|"
        yield from map(_row, options)
        yield ""


def _row(option: Option) -> str:
    star = "*" if option.decides else ""
    letter = f"-{option.letter}, " if option.letter else ""
    flag = letter + flag_of(option.name, option.metavar).replace("|", "\\|")
    default = _shown(option.default)
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
    yield "\n## What needs another option\n\n| option | needs | what to do |\n|---|---|---|"
    for need in NEEDS:
        yield f"| `{title_of(need.feature)}` | `{title_of(need.needed)}` | {need.why} |"
    yield ""


def _values_of(feature: str) -> str:
    """Return a feature as Markdown, with each of its values."""
    name, values = FEATURES.get(feature, (feature, (None,)))
    return ", ".join(f"`{flag_of(name, value)}`" for value in values)


def _call() -> Iterator[str]:
    yield _CALL
    for file in CALL_FILES:
        default = "required" if file.required else _shown(file.default)
        values = "text" if file.metavar == "REGION" else "file"
        yield _call_row(file.name, file.letter, file.metavar, values, default, file.help)
    for option in CallOptions.table.values():
        values = f"{option.none}, or {option.type}" if option.none else str(option.type)
        default = option.none or _shown(option.default)
        yield _call_row(option.name, option.letter, "", values, default, option.help)
    for name, changes in CALL_SHARED.items():
        shared = OPTIONS[name]
        metavar, help = changes.get("metavar", shared.metavar or ""), changes.get("help", shared.help)
        yield _call_row(name, "", metavar, str(shared.type), _shown(shared.default), help)
    yield "\n## Options of LoFreq that `syclade call` refuses\n\n| option | reason |\n|---|---|"
    for name, letter, reason in REFUSED:
        yield f"| `{f'-{letter}, ' if letter else ''}{call_flag(name)}` | {reason} |"
    yield ""


def _call_row(name: str, letter: str, metavar: str, values: str, default: str, help: str) -> str:
    star = "†" if name in _NEW else ""
    flag = (f"-{letter}, " if letter else "") + f"{call_flag(name)} {metavar}".strip().replace("|", "\\|")
    return f"| `{flag}`{star} | {values} | {default} | {help} |"


if __name__ == "__main__":
    print(page(), end="")
