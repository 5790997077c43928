"""Opening of chains that several places share."""

from __future__ import annotations

from syclade.host.chains.backends.opening import Opened
from syclade.host.chains.backends.shared.runner import SharedRunner
from syclade.host.chains.backends.shared.segment import ChainsToOpen, open_chains
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.plan import Plan
from syclade.host.device.choice import Devices, Several, choose_device
from syclade.host.device.cluster.job_pool import JobPool
from syclade.host.device.cluster.jobs import Opening
from syclade.host.device.cluster.workers import Workers
from syclade.host.device.device import native_device

__all__ = ["open_shared"]

DEPTH = 2
"""Segments at once for each worker: one waits while the other runs."""


def open_shared(
    where: Several,
    encoding: str,
    plan: Plan,
    *,
    chains: int,
    steps: int | None,
    slots: int | None,
    seed: int,
) -> Opened[SharedRunner]:
    """Return a runner of chains that several places share; see `open_runner`.

    Args:
        where: the places.
        slots: number of chain states at once in each place.

    Raises:
        DeviceError: a device of this machine cannot be used.
        OptionError: the encoding cannot hold the problem.
    """
    names = where.names if isinstance(where, Devices) else ()
    devices = [choose_device(name) for name in names]
    # Workers choose for themselves; this is what they choose if they have no SYCL devices.
    chosen = choose_encoding(
        encoding,
        devices[0] if devices else native_device(),
        plan.problem,
        plan.space.encoding,
        shares=plan.score.shares,
    )
    places = where.count() if isinstance(where, Workers) else len(names)
    steps = None if steps is None else -(-steps // max(1, places))
    value = ChainsToOpen(plan, encoding, chains, steps, slots, seed, names_host=not devices)
    job_pool = JobPool(where, Opening(open_chains, value), depth=DEPTH)
    return Opened(SharedRunner(plan, seed, chains, job_pool), None, chosen, chains)
