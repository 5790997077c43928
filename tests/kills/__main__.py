"""Kill runs at random moments, resume them elsewhere, and compare all files byte by byte."""

from __future__ import annotations

import argparse
import itertools
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


def shorter(options: tuple[str, ...], times: int) -> tuple[str, ...]:
    """Return the options with fewer steps, for slow devices."""
    long = {
        option: str(int(option) // times) for option in options if option.isdigit() and int(option) > 1000
    }
    return tuple(long.get(option, option) for option in options)


def begin(options: tuple[str, ...], *more: str) -> subprocess.Popen[bytes]:
    """Start a run."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen([*PROGRAM, *options, *more], stdout=quiet, stderr=quiet)


def files_of(kind: str, options: tuple[str, ...], out: Path, *more: str) -> dict[str, bytes]:
    """Return the files of a run that runs to its end."""
    if begin(options, "--out", str(out), *more).wait() != 0:
        raise SystemExit(f"a run of {kind} failed: {' '.join(more)}")
    names = (*FILES, *MORE.get(kind, ("attachments.tsv",)))
    return {name: (out / name).read_bytes() for name in names}


def kill_one(kept: Path, options: tuple[str, ...], device: str, wait: float) -> None:
    """Start a run with a checkpoint, and kill it; the checkpoint may not exist yet."""
    process = begin(options, "--checkpoint", str(kept), "--checkpoint-every", "0", "--device", device)
    time.sleep(wait)
    process.kill()
    process.wait()


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--devices", nargs="+", default=["cpu", "native"])
    parser.add_argument("--shorter", type=int, default=1, help="divides the steps, for numpy")
    asked = parser.parse_args()
    kinds = {kind: shorter(options, asked.shorter) for kind, options in KINDS.items()}
    generator, equal, resumed = random.Random(asked.seed), 0, 0
    with tempfile.TemporaryDirectory() as made:
        folder, seconds = Path(made), {}
        whole: dict[str, dict[str, bytes]] = {}
        for kind, device in itertools.product(kinds, asked.devices):
            begun = time.perf_counter()
            found = files_of(kind, kinds[kind], folder / f"{kind}-{device}", "--device", device)
            seconds[kind, device] = time.perf_counter() - begun
            if whole.setdefault(kind, found) != found:
                raise SystemExit(f"{kind}: {device} and {asked.devices[0]} differ, without a kill")
        for number in range(asked.kills):
            kind, device = generator.choice(list(kinds)), generator.choice(asked.devices)
            kept = folder / f"kept-{number}"
            kill_one(kept, kinds[kind], device, generator.uniform(0.2, seconds[kind, device]))
            more = ("--resume", str(kept)) if kept.exists() else ()
            resumed += bool(more)
            elsewhere = ("--device", generator.choice(asked.devices), "--slots", generator.choice("248"))
            found = files_of(kind, kinds[kind], folder / f"out-{number}", *more, *elsewhere)
            if found == whole[kind]:
                equal += 1
            else:
                other = [name for name in found if found[name] != whole[kind][name]]
                print(f"kill {number} of {kind}: {', '.join(other)} differ", flush=True)
    print(f"{asked.kills} kills, {resumed} with a file to go on with: {equal} ended with equal files")
    sys.exit(equal != asked.kills)


if __name__ == "__main__":
    main()
