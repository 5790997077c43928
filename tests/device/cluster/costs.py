"""python -m tests.device.cluster.costs: seconds until workers did their first job, and of each later one."""

from __future__ import annotations

import argparse
import statistics
import time
from concurrent.futures import FIRST_COMPLETED, wait
from functools import partial

import numpy as np

from syclade.host.chains.backends.opening import ChainsToOpen
from syclade.host.chains.backends.shared.segment import Segment, advance_segment, open_chains
from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.state import ChainInfo, no_tallies
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.device.cluster.jobs import Job, digest_of, packed
from syclade.host.device.cluster.scheduler import open_scheduler
from syclade.host.device.cluster.workers import Workers


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.device.cluster.costs", description=__doc__)
    parser.add_argument("mutations", type=int)
    parser.add_argument("cells", type=int)
    parser.add_argument("--scheduler", default="local:2")
    parser.add_argument("--chains", type=int, default=4, help="chains of a segment")
    options = parser.parse_args()
    values = (np.random.default_rng(3).random((options.mutations, options.cells)) < 0.3).astype(np.uint8)
    plan = make_plan(make_problem(matrix_from_array(values), Rates(0.01, 0.2)))
    info = ChainInfo(no_tallies(len(plan.kinds)))
    chains = [(initial_state(plan, 1, chain), info) for chain in range(options.chains)]
    value = ChainsToOpen(plan, "auto", options.chains, None, None, 1)
    opening = packed(partial(open_chains, value, True))
    segment = Segment(chains, [1] * options.chains, 1.0)  # a single step: all of the time is overhead
    print(f"problem {len(opening)} bytes")
    begun = time.perf_counter()
    with open_scheduler(options.scheduler) as executor:
        workers = Workers(executor)
        print(f"scheduler started: {time.perf_counter() - begun:.2f} s")
        job = Job(digest_of(opening), opening, "auto", advance_segment, segment)
        wait([workers.submit(job) for _ in range(workers.count())], return_when=FIRST_COMPLETED)
        print(f"first answer: {time.perf_counter() - begun:.2f} s")
        times, cpu = [], time.process_time()
        for _ in range(50):
            before = time.perf_counter()
            workers.submit(job).result()
            times.append(time.perf_counter() - before)
        own = (time.process_time() - cpu) / len(times)
        deciles = statistics.quantiles(times, n=10)
        print(
            f"a job: median {1e3 * statistics.median(times):.1f} ms, 9 of 10 below {1e3 * deciles[-1]:.1f} ms"
        )
        print(f"CPU time of the process that gives jobs out: {1e3 * own:.1f} ms a job")
        begun = time.perf_counter()
    print(f"scheduler stopped: {time.perf_counter() - begun:.2f} s")


if __name__ == "__main__":
    main()
