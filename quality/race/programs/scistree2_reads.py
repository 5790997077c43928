"""Run ScisTree2 (needs scistree2) on numbers of reads: print its probabilities, its tree and its seconds."""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scistree2
from scistree2.probability import from_reads

request = json.load(sys.stdin)
alternate, total = np.array(request["alternate"]), np.array(request["total"])
# Probability that a cell does not have the mutation.
absent = from_reads(
    np.stack((total - alternate, alternate), axis=-1), ado=request["dropout"], seqerr=request["error"]
).probs
(binary,) = (Path(scistree2.__file__).parent / "bin").glob("scistree*")
with tempfile.TemporaryDirectory() as folder:
    place = Path(folder, "input")
    lines = [" ".join(f"{value:.5f}" for value in row) for row in absent]
    place.write_text("\n".join([f"HAPLOID {len(absent)} {len(absent[0])}", *lines]) + "\n")
    run = subprocess.run(
        [str(binary), "-T", "1", str(place)], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
    )
(line,) = (line for line in run.stdout.splitlines() if line.startswith("Constructed"))
seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
found = {"absent": absent.tolist(), "tree": line.partition(":")[2].strip() + ";", "seconds": seconds}
print(json.dumps({"found": found}))
