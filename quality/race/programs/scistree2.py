"""Run ScisTree2 (needs scistree2): read a matrix from standard input, print each mutation's cells."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import scistree2

request = json.load(sys.stdin)
fp, fn = request["fp_rate"], request["fn_rate"]
# Probability that a cell does not have the mutation, with equal prior probabilities.
absent = {0: (1 - fp) / (1 - fp + fn), 1: fp / (fp + 1 - fn), 3: 0.5}
(binary,) = (Path(scistree2.__file__).parent / "bin").glob("scistree*")
with tempfile.TemporaryDirectory() as folder:
    place = Path(folder, "input")
    lines = [f"HAPLOID {len(request['matrix'])} {len(request['matrix'][0])}"]
    lines += [" ".join(f"{absent[value]:.8f}" for value in row) for row in request["matrix"]]
    place.write_text("\n".join(lines) + "\n")
    subprocess.run([binary, "-T", "1", place], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    found = place.with_name("input.genos.imp").read_text().splitlines()
rows = [line.split("\t")[1].split() for line in found if line.startswith("Site")]
print(json.dumps({"cells": [[int(value) for value in row] for row in rows]}))
