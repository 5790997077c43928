"""Run ScisTree2 (needs scistree2) on resampled mutations: print a tree of the cells, 1 to m, for each."""

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
rows = [" ".join(f"{absent[value]:.8f}" for value in row) for row in request["matrix"]]
trees = []
with tempfile.TemporaryDirectory() as folder:
    place = Path(folder, "input")
    for chosen in request["resampled"]:
        lines = [f"HAPLOID {len(chosen)} {len(request['matrix'][0])}", *(rows[row] for row in chosen)]
        place.write_text("\n".join(lines) + "\n")
        command = [str(binary), "-T", "1", str(place)]
        run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
        (line,) = (line for line in run.stdout.splitlines() if line.startswith("Constructed"))
        trees.append(line.partition(":")[2].strip() + ";")
print(json.dumps({"trees": trees}))
