"""Stand-in for a user's SCITE program: a script that takes SCITE's arguments and writes its files."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

__all__ = ["make_stand_in"]

# Writes a star tree and prints its score. Appends its arguments to `.calls` beside the program, and reads
# from `.wrong` there which failure to simulate.
STAND_IN = """#!{python}
import math, sys
from pathlib import Path
given = sys.argv[1:]
value = dict(zip(given, given[1:]))
prefix, n, m = value["-o"], int(value["-n"]), int(value["-m"])
with open(sys.argv[0] + ".calls", "a") as calls:
    calls.write(" ".join(given) + "\\n")
wrong = Path(sys.argv[0] + ".wrong")
wrong = wrong.read_text() if wrong.exists() else ""
if wrong == "crash" and prefix.endswith("03"):
    print("one", "two", "cannot go on", sep="\\n", file=sys.stderr)
    sys.exit(3)
fd, ad = float(value["-fd"]), float(value["-ad"])
rows = [line.split() for line in Path(value["-i"]).read_text().splitlines()]
assert (len(rows), {{len(row) for row in rows}}) == (n, {{m}})
absent = {{"0": math.log(1 - fd), "1": math.log(fd), "3": 0.0}}
gain = {{"0": math.log(ad) - absent["0"], "1": math.log(1 - ad) - absent["1"], "3": 0.0}}
if "-cc" in value:
    ad2, cc = float(given[given.index("-ad") + 2]), float(value["-cc"])
    absent |= {{"0": math.log(1 - fd - cc), "2": math.log(cc)}}
    gain |= {{"0": math.log(ad) - absent["0"], "1": math.log(1 - ad - ad2) - absent["1"]}}
    gain["2"] = math.log(ad2) - absent["2"]
cells = list(zip(*rows))
score = sum(sum(absent[d] for d in cell) + max(0.0, *(gain[d] for d in cell)) for cell in cells)
if wrong != "no tree":
    leaves = ",".join(map(str, range(1, n + 1)))
    Path(prefix + "_ml0.newick").write_text("(%s)%d\\n" % (leaves, n + 1))
print("At mcmc repetition 1/6, step 0: best tree score -1.79769e+308 and best beta 0.2")
if wrong != "no score":
    print("best log score for tree:\\t%.17g" % score)
print("1 opt trees")
"""


def make_stand_in(folder: Path) -> Path:
    """Write the program into a new folder, and return its path."""
    path = folder / "scite"
    folder.mkdir()
    path.write_text(STAND_IN.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
