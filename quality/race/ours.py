"""Our own contestants: the search with its defaults, and chains."""

from __future__ import annotations

from syclade.host.answer.inference import InferenceProgress, infer
from syclade.host.data.model.simulate import Simulation
from syclade.host.device.work import work_dicts
from syclade.quality.race.answers import Contestant, Found, processor_seconds
from syclade.quality.race.inputs import RaceInput

__all__ = ["chains", "search"]


def search(device: str, seed: int) -> Contestant:
    """Return a contestant that runs the search with the defaults of `infer`."""
    return _inference(device, {"seed": seed, "method": "search"})


def chains(device: str, seed: int, count: int, steps: int) -> Contestant:
    """Return a contestant that runs `count` chains of `steps` steps each."""
    return _inference(device, {"seed": seed, "method": "chain", "chains": count, "steps": steps})


def _inference(device: str, options: dict[str, object]) -> Contestant:
    def run(given: RaceInput, simulation: Simulation) -> Found:
        began = processor_seconds()
        curve: list[tuple[float, float]] = []

        def seen(state: InferenceProgress) -> None:
            if not curve or state.log_likelihood > curve[-1][1]:
                curve.append((processor_seconds() - began, state.log_likelihood))

        result = infer(
            simulation.matrix,
            fp_rate=given.fp_rate,
            fn_rate=given.fn_rate,
            device=device,
            support="none",
            progress=seen,
            **options,  # type: ignore[arg-type]
        )
        details: dict[str, object] = {
            "work": work_dicts(result.work),
            "found_by": result.agreeing,
            "of": len(result.searches) or result.chains,
            "agree": result.converged,
            "steps": result.steps,
        }
        return Found(result.parents, tuple(curve), details)

    return run
