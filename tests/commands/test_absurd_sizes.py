"""Absurd numbers: one clear message, before memory is taken."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from syclade.host.ground import limits
from syclade.host.ground.errors import DeviceMemoryError, OptionError
from syclade.host.ground.limits import available_memory, require_memory
from tests.conftest import ROOT
from tests.golden.commands import call

MATRIX = ROOT / "host" / "data" / "example" / "matrix.csv"
RATES = "--fp-rate 0.001 --fn-rate 0.2"
INFER = f"infer {MATRIX} {RATES} --device native"

WORDS = {
    f"{INFER} --chains 200000000": "200000000 chains take at least 233.6 GB of memory, and 2.0 GB are free",
    f"{INFER} --chains 4000000000 --steps 9": "4000000000 chains take at least 4,672.0 GB",
    f"{INFER} --chains 20000000 --tree leaf --steps 9": "20000000 chains take",
    f"{INFER} --chains 2 --slots 2000000": "2000000 slots on this processor, by numba take",
    f"infer {MATRIX} {RATES} --device numpy --chains 2 --slots 2000000": "2000000 slots on numpy",
    f"{INFER} --chains 2 --steps 1000000000000 --samples 1": "1500000000000 samples take",
    f"simulate --cells 2000000000 --mutations 2 {RATES}": "2 mutations in 2000000000 cells take",
    f"simulate --cells 2 --mutations 2000000000 {RATES}": "2000000000 mutations in 2 cells take",
    "bench --cells 2000000000 --mutations 2 --device native": "2 mutations in 2000000000 cells take",
    "bench --slots 2000000 --device native": "2000000 slots on this processor, by numba take",
    f"export --cells 20 --mutations 2000000 {RATES}": "2000000 mutations in 20 cells take",
    f"export --cells 20 --mutations 20 --chains 20000000 {RATES}": "20000000 chains take",
    "export --tails --columns 20000000": "20000000 columns take",
    f"bootstrap {MATRIX} {RATES} --resample cells --replicates 1000000 --device native": "replicates take",
    "quality race --size 2000000000x2 --inputs 1": "2 mutations in 2000000000 cells take",
    f"scite -i {MATRIX} -n 20 -m 40 -r 200000000 -l 10 -fd 0.001 -ad 0.2": "200000000 chains take",
}  # fmt: skip


@pytest.mark.parametrize("words", WORDS)
def test_what_does_not_fit_in_memory(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = 0.9e9 if "bootstrap" in words else 2e9
    monkeypatch.setattr(limits, "available_memory", lambda: int(free))
    monkeypatch.chdir(tmp_path)
    command, *rest = words.split()
    folder = {"export": ["out"], "scite": ["-o", "out"], "bench": []}.get(command, ["--out", "out"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    called = call([command, *folder, *rest] if command != "quality" else ["quality", *rest, *folder])
    assert called.status == 2
    assert WORDS[words] in called.messages
    assert called.messages.count("hint: ") == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB, for imports


def test_what_fits_is_not_refused() -> None:
    require_memory(available_memory() // 2, "half", "none")  # other programs take some meanwhile
    with pytest.raises(OptionError, match="all take at least"):
        require_memory(available_memory() + 10**15, "all", "none")
    with pytest.raises(DeviceMemoryError):
        require_memory(sys.maxsize + 1, "all", "none", DeviceMemoryError)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:     1000 kB\nSwapFree:   24 kB\n"}, 1024 * 1024),
        (
            {
                "proc/meminfo": "MemAvailable: 1000 kB\n",
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/memory.max": "max\n",
                "sys/fs/cgroup/a/memory.max": "2048\n",
            },
            2048,
        ),
        (
            {
                "proc/meminfo": "MemAvailable: 1000 kB\n",
                "proc/self/cgroup": "3:cpu:/x\n2:memory:/a\n",
                "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "4096\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            },
            4096,
        ),
    ],
)
def test_limits(files: dict[str, str], expected: int | None, tmp_path: Path) -> None:
    """The memory that is free, and the limits of control groups of both versions."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = available_memory(tmp_path)
    assert found == expected if expected else found > 2**20
