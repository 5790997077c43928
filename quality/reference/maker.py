"""Make a reference folder: run SCITE on every input, in parallel processes, and resume interrupted work."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import syclade
from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import check_output, write_files
from syclade.quality.reference.folder import SETTINGS_FILE
from syclade.quality.reference.inputs import NamedInput, write_inputs
from syclade.quality.reference.scite_program import MOVE_PROBABILITIES, Scite, SciteSettings

__all__ = ["make_reference"]

Progress = Callable[[int, int], None]


def make_reference(
    scite: Scite,
    settings: SciteSettings,
    inputs: Sequence[NamedInput],
    folder: Path,
    *,
    origin: dict[str, Any],
    processes: int,
    force: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write inputs, settings and SCITE's results; finished runs are not repeated.

    Args:
        scite: the user's binary.
        settings: settings of its runs.
        inputs: the matrices.
        folder: output folder, created if it does not exist.
        origin: origin of the inputs, for reference.json.
        processes: number of concurrent SCITE runs.
        force: replace the results of other settings or matrices.
        progress: called with the number of finished runs and the total.

    Returns:
        The number of runs that were already finished.

    Raises:
        OutputError: the folder has other content and `force` is not set, or it cannot be written.
        SciteError: a run failed; the other runs are stopped, and finished runs are kept.
    """
    outputs = check_output(folder / "scite", (), force)
    described = _describe(scite, settings, inputs, origin)
    changed = _changed_settings(folder / SETTINGS_FILE, described)
    if changed and not force:
        raise OutputError(
            f"{folder} was made with another {', '.join(changed)}",
            hint="choose another directory, or replace its results with --force",
        )
    fresh = write_inputs(inputs, folder / "inputs", force)
    stale = [each.name for each in inputs if changed or each.name in fresh]
    _forget(outputs, stale, force)
    if changed or not (folder / SETTINGS_FILE).exists():
        write_files(folder, {SETTINGS_FILE: json.dumps(described, indent=2) + "\n"}, force)
    pending = [each for each in inputs if not _is_done(outputs, each.name)]
    _run_all(scite, settings, pending, folder, processes, len(inputs), progress)
    return len(inputs) - len(pending)


def _describe(
    scite: Scite, settings: SciteSettings, inputs: Sequence[NamedInput], origin: dict[str, Any]
) -> dict[str, Any]:
    """Return the content of reference.json."""
    return {
        **settings.rates.to_dict(),
        "chains": settings.chains,
        "steps": settings.steps,
        "move_probabilities": [float(each) for each in MOVE_PROBABILITIES],
        "scite": {"program": scite.path.name, "sha256": scite.digest},
        "origin": origin,
        "inputs": [each.name for each in inputs],
        "seeds": [each.seed for each in inputs],
        "version": syclade.__version__,
    }


def _changed_settings(path: Path, described: dict[str, Any]) -> list[str]:
    """Return the keys that differ in an earlier reference.json; our own version does not matter to SCITE."""
    if not path.exists():
        return []
    try:
        earlier = json.loads(path.read_text(encoding="utf-8"))
        return sorted(key for key in described if key != "version" and earlier.get(key) != described[key])
    except (OSError, ValueError, AttributeError):
        return [SETTINGS_FILE]


def _is_done(outputs: Path, name: str) -> bool:
    """Return whether a run is finished: its log gets its final name only after success (`Scite.run`)."""
    return (outputs / f"{name}.log").is_file() and _tree(outputs, name).is_file()


def _tree(outputs: Path, name: str) -> Path:
    return outputs / f"{name}_ml0.newick"


def _forget(outputs: Path, names: Sequence[str], force: bool) -> None:
    """Remove the logs of outdated results, so that these runs are repeated."""
    logs = [outputs / f"{name}.log" for name in names]
    present = [log for log in logs if log.exists()]
    if present and not force:
        raise OutputError(
            f"{present[0]} is of another matrix", hint="choose another directory, or replace it with --force"
        )
    for log in present:
        log.unlink()


def _run_all(
    scite: Scite,
    settings: SciteSettings,
    pending: Sequence[NamedInput],
    folder: Path,
    processes: int,
    total: int,
    progress: Progress | None,
) -> None:
    """Run SCITE on the pending inputs; the first failure stops all runs."""
    done = total - len(pending)
    stop = threading.Event()
    with ThreadPoolExecutor(processes) as pool:
        try:
            runs = [pool.submit(_run_one, scite, settings, each, folder, stop) for each in pending]
            for run in as_completed(runs):
                run.result()
                done += 1
                if progress is not None:
                    progress(done, total)
        except BaseException:  # Ctrl-C must also end SCITE's processes
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _run_one(
    scite: Scite, settings: SciteSettings, given: NamedInput, folder: Path, stop: threading.Event
) -> None:
    outputs = folder / "scite"
    arguments = scite.arguments(
        settings,
        folder / "inputs" / f"{given.name}.csv",
        (given.matrix.n_mutations, given.matrix.n_cells),
        given.seed,
        outputs / given.name,
    )
    scite.run(arguments, outputs / f"{given.name}.log", _tree(outputs, given.name), stop)
