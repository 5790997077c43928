"""Our side of the comparison: one inference per input; results may be stored and reused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import syclade
from syclade.host.answer.inference import infer
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.treefile import read_tree
from syclade.host.device.work import require_all
from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import write_files
from syclade.quality.reference.folder import ReferenceFolderError
from syclade.quality.reference.scores import ScoredInput
from syclade.quality.work import Work, without_warnings, work_of

__all__ = ["Comparison", "RunSettings", "compare", "compare_tree"]

TREE_FILES = ("{}.newick", "{}.nwk", "{}.gv", "{}_ml0.newick", "{}_ml0.gv", "{}/tree.newick", "{}/tree.gv")
"""Names of the file of an input's tree in a folder of another program's trees."""


@dataclass(frozen=True)
class RunSettings:
    """Settings of our runs; a stored result is reused only if all of them are equal.

    Attributes:
        rates: the error rates; None if each input has its own.
        method: chain or search.
        chains, steps: number of chains, and steps of each; None for searches.
        seed: as for `infer`.
        device: filter string of the device.
        encoding: how trees are stored in the device's memory. Results must not depend on it or on the device;
            the comparison tests this too.
        trees: folder with trees of another program or device, in place of runs; then the others are not used.
        stages: as for `infer`; affects speed only.
        image: file with a precompiled kernel or precompiled stages; None to compile them.
    """

    rates: Rates | None
    method: str
    chains: int | None
    steps: int | None
    seed: int
    device: str
    encoding: str
    trees: str | None = None
    stages: str = "fused"
    image: str | None = None

    def values(self) -> dict[str, Any]:
        """Return the settings as plain values, with the version of syclade."""
        if self.trees is not None:
            return {**self._rates(), "trees": self.trees, "version": syclade.__version__}
        return {
            **self._rates(),
            "method": self.method,
            "chains": self.chains,
            "steps": self.steps,
            "seed": self.seed,
            "device": self.device,
            "encoding": self.encoding,
            **({} if self.stages == "fused" else {"stages": self.stages}),
            **({} if self.image is None else {"image": _digest(self.image)}),
            "version": syclade.__version__,
        }

    def _rates(self) -> dict[str, Any]:
        return {"rates": "of each input"} if self.rates is None else asdict(self.rates)

    def key(self, scored: ScoredInput) -> dict[str, Any]:
        """Return the settings and the digest of an input's matrix; a stored result must have the same."""
        return {**self.values(), **asdict(scored.rates), "matrix": scored.digest}


@dataclass(frozen=True)
class Comparison:
    """Best log-likelihoods of the two programs for one input, in nats, by the same float64 scorer.

    Attributes:
        name: name of the input.
        ours, scite: the log-likelihoods.
        parents: our tree, n + 1 parents.
        seconds: wall time of our chains or searches; 0 for trees from files.
        work: share of our work by executor; empty for trees from files.
        kept: whether the result is from an earlier run.
    """

    name: str
    ours: float
    scite: float
    parents: list[int]
    seconds: float
    work: Work
    kept: bool


def compare(
    scored: ScoredInput,
    settings: RunSettings,
    folder: Path | None = None,
    force: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Run our inference for an input, or reuse the stored result of an earlier run with the same settings.

    Args:
        scored: the input and SCITE's result.
        settings: settings of the run.
        folder: folder of stored results, one file per input; without it nothing is stored.
        force: replace a result of other settings.
        progress: called with the number of steps done, over all chains.

    Raises:
        OutputError: a result of other settings exists and `force` is not set, or it cannot be written.
        DeviceError: an executor other than the device did some of the work.
        SycladeError: see `infer`.
    """
    place = None if folder is None else folder / f"{scored.name}.json"
    key = settings.key(scored)
    kept = None if place is None else _read_kept(place, key, force)
    if kept is None:
        with without_warnings():
            done = infer(
                scored.matrix,
                **asdict(scored.rates),
                method=settings.method,
                chains=settings.chains,
                steps=settings.steps,
                seed=settings.seed,
                device=settings.device,
                encoding=settings.encoding,
                stages=settings.stages,
                image=settings.image,
                support="none",
                progress=None if progress is None else lambda state: progress(state.steps_done),
            )
        require_all(done.work, settings.device)
        result = {
            "parents": done.parents.tolist(),
            "log_likelihood": done.log_likelihood,
            "seconds": done.seconds,
            "work": work_of(done),
        }
        if place is not None:
            text = json.dumps({"settings": key, "result": result}, indent=2) + "\n"
            write_files(place.parent, {place.name: text}, force=True)  # _read_kept rejects what must stay
    else:
        result = kept
    parents = np.array(result["parents"], dtype=np.int32)
    ours = log_likelihood(scored.matrix, scored.rates, parents)
    return Comparison(
        scored.name,
        ours,
        scored.log_likelihood,
        parents.tolist(),
        float(result["seconds"]),
        dict(result["work"]),
        kept is not None,
    )


def compare_tree(scored: ScoredInput, folder: Path) -> Comparison:
    """Score the tree of another program or device for an input.

    Args:
        scored: the input and SCITE's result.
        folder: folder of the trees; see `TREE_FILES` for their names.

    Raises:
        ReferenceFolderError: there is no tree of the input.
        TreeError: its file is damaged, or of other mutations.
    """
    names = [name.format(scored.name) for name in TREE_FILES]
    place = next((folder / name for name in names if (folder / name).is_file()), None)
    if place is None:
        raise ReferenceFolderError(
            f"{folder} has no tree of input {scored.name}", hint=f"it may be {', '.join(names)}"
        )
    parents = read_tree(place, scored.matrix.mutations)
    found = log_likelihood(scored.matrix, scored.rates, parents)
    return Comparison(scored.name, found, scored.log_likelihood, parents.tolist(), 0.0, {}, kept=False)


def _digest(image: str) -> str:
    """Return the SHA-256 of an image: another circuit may have the same name."""
    return hashlib.sha256(Path(image).read_bytes()).hexdigest()


def _read_kept(place: Path, key: dict[str, Any], force: bool) -> dict[str, Any] | None:
    """Return the result of an earlier run with these settings, or None if there is none to use."""
    if not place.exists():
        return None
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
        settings, result = found["settings"], found["result"]
        other = sorted(name for name in key if settings.get(name) != key[name])
        complete = {"parents", "seconds", "work"} <= set(result)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        other, complete, result = ["content"], False, {}
    if not other and complete:
        return dict(result)
    if force:
        return None
    raise OutputError(
        f"{place} is of a run with another {', '.join(other) or 'content'}",
        hint="choose another directory, or replace such results with --force",
    )
