"""Run scsim (needs scsim): simulate reads of single cells, print reads and true genotypes, site by site.

The package's own function passes the seed at the place of another argument (1.0.0), so its program is called.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import scsim

request = json.load(sys.stdin)
numpy.random.seed(request["seed"])
cells = request["cells"]
lineage = scsim.get_random_binary_tree(cells, start_index=1).output(branch_length_func=lambda one: one.branch)
arguments = {
    "sites": request["sites"],
    "variants per site": 1,
    "error of a read": 0.01,
    "dropout of an allele": 0.2,
    "doublets": 0,
    "gains": 0,
    "losses": 0,
    "recurrent": 0,
    "ternary": 0,
    "variation of dropout": 0,
    "mean depth": 10,
    "deviation of depth": 5,
    "missing": 0,
    "seed": request["seed"],
    "beta-binomial": 0,
}
with tempfile.TemporaryDirectory() as folder:
    place = Path(folder, "lineage.nwk")
    place.write_text(lineage)
    program = str(Path(scsim.__file__).parent / "bin" / "scsim")
    command = [program, str(place), *map(str, arguments.values())]
    output = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout


def pairs(words: str) -> list[list[list[int]]]:
    """Return all pairs of numbers behind these words, site by site."""
    found = re.findall(rf"Cell \d+: {words} = \((\d+), ?(\d+)\)", output)
    numbers = [[int(one), int(other)] for one, other in found]
    return [numbers[start : start + cells] for start in range(0, len(numbers), cells)]


print(json.dumps({"simulated": {"genotypes": pairs("Genotype"), "reads": pairs(r"Read Count \(0,1\)")}}))
