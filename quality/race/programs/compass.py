"""Run COMPASS without copy numbers and doublets: read numbers of reads from standard input, print each
mutation's cells."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

request = json.load(sys.stdin)
reads = request["reads"]
mutations, cells = len(reads), len(reads[0])
with tempfile.TemporaryDirectory() as folder:
    variants = Path(folder, "input_variants.csv")
    rows = [["CHR", "REGION", "NAME", *(f"c{cell}" for cell in range(cells))]]
    for number, row in enumerate(reads):
        rows.append(["1", f"R{number}", f"M{number}", *(f"{wild}:{mutant}" for wild, mutant in row)])
    variants.write_text("".join(",".join(row) + "\n" for row in rows))
    options = {
        "-i": "input",
        "-o": "found",
        "--nchains": request["chains"],
        "--chainlength": request["steps"],
        "--CNA": 0,
        "-d": 0,
        "--dropoutrate": request["dropout"],
    }
    words = [str(word) for option in options.items() for word in option]
    subprocess.run([request["program"], *words], cwd=folder, stdout=subprocess.DEVNULL, check=True)

    def table(name: str) -> list[list[str]]:
        """Return the rows of a table that COMPASS wrote, without its heads."""
        with Path(folder, f"found_{name}.tsv").open() as lines:
            return list(csv.reader(lines, delimiter="\t"))[1:]

    genotypes = {name.removeprefix("Node "): values for name, *values in table("nodes_genotypes")}
    nodes = {name: node for name, node, *_ in table("cellAssignments")}
of_cell = [genotypes[nodes[f"c{cell}"]] for cell in range(cells)]
found = [[int(row[number] != "0") for row in of_cell] for number in range(mutations)]
print(json.dumps({"cells": found}))
