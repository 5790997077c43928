"""Processor energy from the RAPL counters that Linux exposes in ``/sys/class/powercap``.

The counters cover whole packages (sockets) and their memory, so they include everything that the machine does
during a measurement. Reports contain only values that were read.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from syclade.host.ground.errors import SycladeError

__all__ = ["POWERCAP", "Domain", "EnergyError", "EnergyMeter", "find_domains", "open_meter"]

POWERCAP = Path("/sys/class/powercap")

SAMPLE_SECONDS = 10.0
"""Seconds between two reads of the counters: far less than the minutes in which a busy one wraps around."""

_JOULES = 1e-6
"""Joules per count; counters are in microjoules."""


class EnergyError(SycladeError):
    """The energy counters cannot be read."""


@dataclass(frozen=True)
class Domain:
    """One energy counter.

    Attributes:
        name: name of what it measures, such as package-0 or package-0 dram.
        counter: path of the file with its value in microjoules.
        most: largest value in microjoules; after that the counter restarts at 0.
    """

    name: str
    counter: Path
    most: int

    def read(self) -> int:
        """Return the counter's value in microjoules.

        Raises:
            EnergyError: the counter cannot be read.
        """
        return _number(self.counter)


def find_domains(folder: Path = POWERCAP) -> tuple[Domain, ...]:
    """Find the counters of all packages, and of their memory if it has its own counter.

    The counters of cores and graphics are left out because they are parts of a package. The counter of the
    whole platform (psys) is left out because not every machine has it.

    Args:
        folder: Linux's powercap folder.

    Raises:
        EnergyError: there are no counters, or they cannot be read.
    """
    domains = []
    for zone in sorted(folder.glob("intel-rapl:*")):  # AMD processors use this name too
        name = _text(zone / "name")
        of_package = name.startswith("package")
        if name == "dram" and zone.name.count(":") == 2:
            name = f"{_text(zone.with_name(zone.name.rpartition(':')[0]) / 'name')} {name}"
        elif not of_package:
            continue
        domains.append(Domain(name, zone / "energy_uj", _number(zone / "max_energy_range_uj")))
    if not domains:
        raise EnergyError(
            f"this machine has no energy counters (RAPL) in {folder}",
            hint="virtual machines and containers hide them; measure on the machine itself, under Linux on "
            "an x86 processor with the kernel module intel_rapl_msr",
        )
    for domain in domains:
        domain.read()
    return tuple(domains)


class EnergyMeter:
    """Energy used since the meter was made, summed correctly when counters wrap around.

    Args:
        domains: the counters.
    """

    def __init__(self, domains: tuple[Domain, ...]) -> None:
        self._domains = domains
        self._lock = threading.Lock()
        self._last = [domain.read() for domain in domains]
        self._used = [0 for _ in domains]

    def by_domain(self) -> dict[str, float]:
        """Return the joules since the meter was made, by name of the counter.

        A counter must not wrap around twice between two calls.
        """
        with self._lock:
            for place, domain in enumerate(self._domains):
                now = domain.read()
                used = now - self._last[place]
                self._used[place] += used if used >= 0 else used + domain.most
                self._last[place] = now
            names = [domain.name for domain in self._domains]
            return {name: used * _JOULES for name, used in zip(names, self._used, strict=True)}

    def joules(self) -> float:
        """Return the joules since the meter was made, summed over all counters."""
        return sum(self.by_domain().values())


@contextmanager
def open_meter(folder: Path = POWERCAP, sample_seconds: float = SAMPLE_SECONDS) -> Iterator[EnergyMeter]:
    """Open a meter that also reads the counters in a thread, so that a long run does not miss a wrap-around.

    Args:
        folder: Linux's powercap folder.
        sample_seconds: seconds between two reads.

    Raises:
        EnergyError: there are no counters, or they cannot be read.
    """
    meter = EnergyMeter(find_domains(folder))
    ended = threading.Event()

    def look() -> None:
        # If a counter disappears, the caller's next read raises the error.
        with contextlib.suppress(EnergyError):
            while not ended.wait(sample_seconds):
                meter.by_domain()

    thread = threading.Thread(target=look, name="syclade-energy", daemon=True)
    thread.start()
    try:
        yield meter
    finally:
        ended.set()
        thread.join()


def _number(path: Path) -> int:
    text = _text(path)
    try:
        return int(text)
    except ValueError:
        raise EnergyError(f"the energy counter {path} has no number") from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except PermissionError:
        raise EnergyError(
            f"only root may read the energy counter {path}",
            hint="measure as root, or allow it until the next boot: "
            f"sudo chmod a+r {POWERCAP}/intel-rapl:*/energy_uj",
        ) from None
    except OSError as problem:
        raise EnergyError(
            f"the energy counter {path} cannot be read: {problem.strerror or problem}",
            hint="measure on the machine itself, not in a container",
        ) from problem
