"""Snakemake wrapper of `syclade infer`: one matrix in, the files of its result out."""

import shlex
import subprocess
from contextlib import nullcontext
from pathlib import Path

snakemake = globals()["snakemake"]  # Snakemake defines it before it runs this file


def folder_of(outputs):
    """Return the folder of the result, in which all outputs of the rule must be."""
    paths = [Path(one) for one in outputs]
    folders = {path if path.is_dir() or not path.suffix else path.parent for path in paths}
    if len(folders) != 1:
        raise ValueError(f"the outputs of syclade infer must be in one folder, not in {len(folders)}")
    return folders.pop()


def flags_of(options):
    """Return options, such as {"fp_rate": 0.001, "report": True}, as arguments of the command."""
    flags = []
    for name, value in options.items():
        if value is not None and value is not False:
            flags.append(f"--{name.replace('_', '-')}")
            flags += [] if value is True else [str(value)]
    return flags


matrix = snakemake.input.get("matrix", snakemake.input[0])
options = dict(snakemake.params.get("options", {}))
if snakemake.input.get("names"):
    options["names"] = snakemake.input.get("names")
command = ["syclade", "infer", matrix, *flags_of(options), *shlex.split(snakemake.params.get("extra", ""))]
# Snakemake removes old outputs and makes their folder before it runs a rule, so the folder exists.
command += ["--threads", str(snakemake.threads), "--out", str(folder_of(snakemake.output)), "--force"]

with Path(snakemake.log[0]).open("w") if snakemake.log else nullcontext() as log:
    subprocess.run(command, stdout=log, stderr=log, check=True)
