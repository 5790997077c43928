"""The command `syclade infscite`."""

from __future__ import annotations

from tests.golden.run import Run

_CALL = "infscite -i {matrix:small} -n 12 -m 20 -fd 0.01 -ad 0.2 -o out/base --device {device} -r 2 -l 1200"


def _run(name: str, options: str) -> Run:
    return Run(f"infscite-{name}", (f"{_CALL} {options}",), rounded=True)


INFSCITE = (
    _run("fixed", "-s -d 0.2 -p 60 -a"),
    _run("learned", "-d -p 60 -a"),
    _run("learned-rates", "-d -e 0.3 -z 400 5 -p 60"),
    _run("recurrent-learned", "-s -d -e 0.3 -rec 3 -p 60"),
)
