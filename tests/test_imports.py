"""Imports inside functions: only those that start-up time needs, each in a list below with its reason."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("fallback", "host", "quality", "src")

ENTRY_POINTS = {
    "host/commands": "help and usage errors appear before anything is loaded",
    "quality/cli": "likewise",
    "quality/studies/cli": "likewise",
    "quality/posterior/api.py": "loaded with syclade.quality",
    "quality/tost/api.py": "loaded with syclade.quality",
    "src/syclade": "the import of syclade loads nothing",
}
"""Files that import any module of ours where it is used, except those of `AT_THE_TOP`."""

AT_THE_TOP = ("syclade", "syclade.host.ground.values", "syclade.quality.extras")
"""Modules that entry points import at the top, too: they are loaded already, or cost nothing."""

OWN_PROGRAMS = (
    "host/commands/export/loader.py",
    "host/commands/export/hls/column_testbench.py",
    "host/commands/export/hls/opencl_device.py",
    "host/commands/export/hls/opencl_testbench.py",
)
"""Copied into exported folders; they report a missing library themselves."""

LIBRARIES = {
    "anndata": "optional",
    "cuda": "optional; loads the NVIDIA driver",
    "cyvcf2": "optional",
    "dask": "optional",
    "dask_jobqueue": "optional",
    "distributed": "optional",
    "dpctl": "optional; starts the SYCL runtime",
    "dpnp": "optional; starts the SYCL runtime",
    "h5netcdf": "optional",
    "h5py": "optional",
    "importlib.metadata": "slow: loads the parser of e-mails",
    "jinja2": "optional",
    "llvmlite": "slow: loads LLVM",
    "markupsafe": "optional",
    "matplotlib": "optional",
    "networkx": "slow",
    "numba": "slow",
    "numba_dpex": "optional; starts the SYCL runtime",
    "pandas": "optional",
    "platformdirs": "for the user's cache only",
    "pysam": "optional",
    "resource": "not on Windows",
    "rich": "slow",
    "scipy": "slow",
    "statistics": "slow: loads decimals and fractions",
    "statsmodels": "optional",
}
"""Libraries that are imported where they are used."""

MODULES = {
    "fallback.ancestor.steps": "numpy",
    "fallback.chain.steps": "numpy",
    "fallback.rates.steps": "learned rates",
    "host.chains.backends.shared.runner": "several places",
    "host.chains.backends.stages.opening": "separate stages",
    "host.chains.backends.stages.overlapping": "overlapping stages",
    "host.chains.scores.doublets": "the score with doublets",
    "host.chains.scores.recurrent": "scores with a recurrent mutation",
    "host.chains.checkpoints.chains": "checkpoints",
    "host.device.cluster.workers": "workers",
    "host.data.input.metadata": "labels of cells",
    "host.findings.consensus.find_consensus": "samples",
    "host.findings.consensus.relations": "genotypes",
    "host.data.model.likelihood": "genotypes",
    "host.data.model.pairs": "genotypes",
    "host.findings.consensus.finding": "labels of cells, and genotypes",
    "host.findings.consensus.tables": "labels of cells",
    "host.ground.options": "texts of errors in Python",
    "host.device.cuda": "NVIDIA GPUs",
    "host.device.engines.cuda": "NVIDIA GPUs",
    "host.device.engines.local": "this processor",
    "host.device.engines.sycl": "SYCL devices",
    "host.data.input.matrix": "arrays",
    "host.data.input.tables": "data frames",
    "host.findings.kinds.cell_trees": "cell trees",
    "host.answer.output": "methods of results, and files on request",
    "host.answer.recurrence.bayes_factors": "recurrent mutations",
    "host.answer.figures": "a method of results",
    "host.answer.report.page": "the report",
    "host.chains.runs.run": "chains",
    "host.findings.samples.cell_trees": "samples",
    "host.findings.samples.mutation_trees": "samples",
    "host.findings.samples.sampled": "samples",
    "host.chains.search.find_tree": "searches",
    "host.chains.search.shared": "several places",
    "host.findings.kinds": "trees",
    "host.findings.support.of_samples": "support",
    "host.findings.support.plan": "support",
    "host.findings.support.stage": "support",
    "host.findings.support.value": "support",
    "kernels.target.cuda.compiler": "imports numba-cuda",
    "kernels.target.native.compiler": "imports numba",
    "kernels.target.sycl": "imports numba-dpex",
    "kernels.target.sycl_dispatchers": "imports numba-dpex",
}
"""Modules of ours that only some runs load: those with what is named here."""


def sources() -> Iterator[tuple[str, str]]:
    """Yield the name of each file, from the root, and its text."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def imports_in_functions(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and module of each import inside a function; ``from a import b`` is the module a.b, too."""
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, one.name) for one in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node.lineno, f"{node.module}.{one.name}") for one in node.names)


@cache
def found_in_functions() -> list[tuple[str, int, str]]:
    """Return file, line and module of each import inside a function."""
    return [(file, line, module) for file, text in sources() for line, module in imports_in_functions(text)]


def listed(table: dict[str, str], module: str) -> str | None:
    """Return the entry of a table that is the module, or a package or module that holds it."""
    return next((name for name in table if f"{module}.".startswith(f"{name}.")), None)


def entry_for(file: str, module: str) -> str | None:
    """Return the entry that allows a file to import a module inside a function; None if there is none."""
    if file in OWN_PROGRAMS:
        return file
    if not f"{module}.".startswith("syclade."):
        return listed(LIBRARIES, module)
    at_the_top = any(module.startswith(f"{name}.") for name in AT_THE_TOP[1:]) or module in AT_THE_TOP
    folder = file.removesuffix("/command.py").rpartition("/")[0]
    entry = next((one for one in ENTRY_POINTS if one in (file, folder)), None)
    return entry if entry and not at_the_top else listed(MODULES, module.removeprefix("syclade."))


def test_imports_in_functions_are_listed() -> None:
    found = [
        f"{file}:{line} {module}"
        for file, line, module in found_in_functions()
        if entry_for(file, module) is None
    ]
    assert not found


def test_entries_are_used() -> None:
    used = {entry_for(file, module) for file, _, module in found_in_functions()}
    assert not (ENTRY_POINTS.keys() | LIBRARIES.keys() | MODULES.keys()) - used


def test_the_check_finds_what_it_looks_for() -> None:
    """The negative control."""
    text = "import json\ndef f():\n    import json\n    from syclade.host.data.trees import tree\n"
    assert list(imports_in_functions(text)) == [(3, "json"), (4, "syclade.host.data.trees.tree")]
    assert entry_for("host/a.py", "json") is None
    assert entry_for("host/a.py", "syclade.host.data.trees.tree") is None
    assert entry_for("host/a.py", "scipy.stats") == "scipy"
    assert entry_for("host/commands/a.py", "syclade.host.data.trees.tree") == "host/commands"
    assert entry_for("host/commands/a.py", "syclade.host.ground.values.whole") is None


HELP = """
import sys
import click
from click.testing import CliRunner
from syclade.host.commands.main import cli
HEAVY = ("numpy", "scipy", "numba", "rich", "syclade.kernels", "syclade.host.answer", "syclade.host.findings",
         "syclade.host.chains", "syclade.host.calls", "syclade.host.data", "syclade.host.device")
def show(group, *words):
    for name in group.list_commands(click.Context(group)):
        shown = CliRunner().invoke(cli, [*words, name, "--help"])
        assert shown.exit_code == 0 and "Usage:" in shown.output, name
        loaded = sorted(sys.modules.keys() & set(HEAVY))
        assert not loaded, f"{name} --help loads {loaded}"
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            show(command, *words, name)
show(cli)
print(sum(name == "syclade.host.commands.infer" for name in sys.modules))
"""


def test_help_of_commands_loads_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")
