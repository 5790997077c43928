"""Kills runs at random moments, goes on with them elsewhere, and compares all files byte by byte."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.conftest import ROOT

EXAMPLE = ROOT / "host" / "data" / "example" / "matrix.csv"
RATES = ("--fp-rate", "0.001", "--fn-rate", "0.2", "--seed", "4", "--quiet")
KINDS = {
    "steps": ("--chains", "6", "--steps", "3000000"),
    "rule": ("--method", "chain", "--chains", "8"),
    "search": ("--method", "search"),
    "samples": ("--chains", "6", "--steps", "2000000", "--samples", "500"),
    "learned": ("--chains", "6", "--steps", "400000", "--samples", "500", "--learn-fn", "0.2"),
    "leaf": ("--tree", "leaf", "--chains", "6", "--steps", "1000000", "--samples", "500"),
}
FILES = ("tree.newick", "tree.gv", "summary.json")
SAMPLED = ("attachments.tsv", "tree.samples", "posterior.tsv", "posterior.gv")
MORE = {
    "samples": SAMPLED,
    "learned": SAMPLED,
    "leaf": ("placements.tsv", "tree.samples", "clades.tsv", "consensus.newick"),
}
PROGRAM = (sys.executable, "-c", "from syclade.__main__ import main; main()", "infer", str(EXAMPLE), *RATES)


def begin(kind: str, *options: str) -> subprocess.Popen[bytes]:
    """Start a run."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen([*PROGRAM, *KINDS[kind], *options], stdout=quiet, stderr=quiet)


def files_of(kind: str, out: Path, *options: str) -> dict[str, bytes]:
    """What a run to the end writes."""
    if begin(kind, "--out", str(out), *options).wait() != 0:
        raise SystemExit(f"a run of {kind} failed: {' '.join(options)}")
    names = (*FILES, *MORE.get(kind, ("attachments.tsv",)))
    return {name: (out / name).read_bytes() for name in names}


def kill_one(folder: Path, kind: str, seconds: float, devices: list[str], generator: random.Random) -> Path:
    """Start a run and kill it; the file that it was kept in, which may not be there yet."""
    kept = folder / f"kept-{generator.random()}"
    options = ("--checkpoint", str(kept), "--checkpoint-every", "0", "--device", generator.choice(devices))
    process = begin(kind, *options)
    time.sleep(generator.uniform(0.2, seconds))
    process.kill()
    process.wait()
    return kept


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--devices", nargs="+", default=["cpu", "native"])
    asked = parser.parse_args()
    generator, equal, resumed = random.Random(asked.seed), 0, 0
    with tempfile.TemporaryDirectory() as made:
        folder, whole, seconds = Path(made), {}, {}
        for kind in KINDS:
            begun = time.perf_counter()
            whole[kind] = files_of(kind, folder / kind, "--device", asked.devices[0])
            seconds[kind] = time.perf_counter() - begun
        for number in range(asked.kills):
            kind = generator.choice(list(KINDS))
            kept = kill_one(folder, kind, seconds[kind], asked.devices, generator)
            more = ("--resume", str(kept)) if kept.exists() else ()
            resumed += bool(more)
            elsewhere = ("--device", generator.choice(asked.devices), "--slots", generator.choice("248"))
            found = files_of(kind, folder / f"out-{number}", *more, *elsewhere)
            if found == whole[kind]:
                equal += 1
            else:
                other = [name for name in found if found[name] != whole[kind][name]]
                print(f"kill {number} of {kind}: {', '.join(other)} differ", flush=True)
    print(f"{asked.kills} kills, {resumed} with a file to go on with: {equal} ended with equal files")
    sys.exit(equal != asked.kills)


if __name__ == "__main__":
    main()
