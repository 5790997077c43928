"""`syclade.quality.tost`: compare our best trees with SCITE's.

Slow imports are inside the functions, so that ``import syclade.quality`` is fast.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import whole
from syclade.quality.extras import require_extras

if TYPE_CHECKING:
    from syclade.host.data.model.rates import Rates
    from syclade.host.device.device import Device
    from syclade.quality.reference.folder import Reference
    from syclade.quality.reference.scores import ScoredInput
    from syclade.quality.tost.result import TostResult
    from syclade.quality.tost.runs import Comparison, RunSettings
    from syclade.quality.work import Progress

__all__ = ["METHODS", "tost"]

METHODS = ("chain", "search")

FP_RATE, FN_RATE, CHAINS, STEPS = 1e-6, 0.25, 6, 1_000_000
"""Settings of the thesis's test, for a reference folder without reference.json."""


def tost(
    reference: str | os.PathLike[str] | None = None,
    *,
    device: str = "auto",
    method: str = "chain",
    chains: int | None = None,
    steps: int | None = None,
    encoding: str = "auto",
    stages: str = "fused",
    image: str | os.PathLike[str] | None = None,
    fp_rate: float | None = None,
    fn_rate: float | None = None,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    merge_homozygous: bool = False,
    seed: int = DEFAULT_SEED,
    limit: int | None = None,
    ours: str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> TostResult:
    """Compare our best trees with SCITE's by two one-sided paired t-tests (TOST).

    This infers a tree for each input of the reference. One float64 scorer scores both programs' trees; it
    must agree with the scores in SCITE's logs. The programs are equivalent if the mean difference is shown to
    be less than one bit flip in both directions, each at significance 0.01. A bit flip is the largest effect
    that one flipped entry of the mutation matrix has on the log-likelihood. Where inputs have error rates of
    their own, it is the mean over the inputs.

    Equal arguments give equal log-likelihoods on every device. With the packaged reference and 6 chains of
    1,000,000 steps this takes about a minute on two cores.

    Args:
        reference: a reference folder (docs/quality.md); by default SCITE's results on 64 inputs, which come
            with the package.
        device: auto, cpu, native, fpga-emu, fpga, gpu, numpy, or a dpctl filter string.
        method: chain, to run chains as SCITE does, or search.
        chains: number of chains; by default that of SCITE's runs. For method chain only.
        steps: steps of each chain; by default those of SCITE's runs. For method chain only.
        encoding: how trees are stored in the device's memory: auto, preorder or ancestor. Affects speed only.
        stages: as for `syclade.infer`. Affects speed only.
        image: file with a precompiled kernel, or precompiled stages: a circuit for a card, or what `syclade
            export` made for a device here. It must fit the largest input.
        fp_rate, fn_rate: error rates of SCITE's runs, for a folder without reference.json and rates.tsv; 1e-6
            and 0.25 by default.
        fn_rate_hom, hom_rate: as for `syclade.infer`, for a folder without reference.json.
        merge_homozygous: as for `syclade.infer`.
        seed: random seed, 0 … 2^64-1.
        limit: use only the first `limit` inputs, at least 2.
        ours: folder with trees of another program or device, which are compared with SCITE's in place of
            runs; for input NN, NN.newick, NN.gv, NN_ml0.newick, NN_ml0.gv or NN/tree.newick.
        keep: folder for the result of each input; existing results that were made with the same settings are
            reused. Without it nothing is written.
        force: replace results in `keep` that were made with other settings.
        progress: called with the current activity, the amount done and the total.

    Returns:
        Counts of equal, better and worse inputs, p-values, the verdict, and every single comparison.

    Raises:
        OptionError: an option is invalid, or statsmodels is not installed (the extra `quality`).
        ReferenceFolderError: the reference cannot be used, or its scores do not agree with its logs.
        DeviceError: the device cannot run.
        OutputError: `keep` has a result of other settings and `force` is not set, or it cannot be written.

    Source: Schuirmann 1987; ffSCITE thesis, section 4.4.
    """
    from syclade.quality.reference.folder import RATES_FILE
    from syclade.quality.reference.packaged import reference_at
    from syclade.quality.reference.scores import score_reference
    from syclade.quality.tost.result import TostResult
    from syclade.quality.tost.runs import RunSettings, compare_tree
    from syclade.quality.tost.test import Differences
    from syclade.quality.tost.test import tost as tests

    require_extras("statsmodels")
    _check_method(method, chains, steps)
    if ours is not None:
        runs = {"chains": chains, "steps": steps, "encoding": encoding, "stages": stages, "image": image}
        _check_no_runs(device=device, method=method, seed=seed, **runs)
    if limit is not None:
        limit = whole("limit (--limit)", limit, 2, 2**31 - 1)
    rates_given = any(one is not None for one in (fp_rate, fn_rate, fn_rate_hom, hom_rate))
    with reference_at(reference) as folder:
        rates = _rates(folder, fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous)
        found, of_trees = _device_and_encoding(device, encoding, stages, image)
        by_chains = method == "chain"
        settings = RunSettings(
            rates=None if any(each.rates for each in folder.inputs) else rates,
            trees=None if ours is None else os.fspath(ours),
            method=method,
            chains=(chains or folder.settings.get("chains", CHAINS)) if by_chains else None,
            steps=(steps or folder.settings.get("steps", STEPS)) if by_chains else None,
            seed=seed,
            device=found.filter,
            encoding=of_trees,
            stages=stages,
            image=None if image is None else os.fspath(image),
        )
        if any(each.rates for each in folder.inputs) and (rates.merge_homozygous or rates_given):
            raise OptionError(
                f"error rates are given, and {folder.folder / RATES_FILE} has those of each input",
                hint="leave them out",
            )
        scored = score_reference(folder.inputs[:limit], rates)
    if ours is None:
        comparisons = _compare_all(scored, settings, None if keep is None else Path(keep), force, progress)
    else:
        comparisons = [compare_tree(each, Path(ours)) for each in scored]
    flips = {each.rates.flip_effect() for each in scored}
    margin = flips.pop() if len(flips) == 1 else fmean(each.rates.flip_effect() for each in scored)
    differences = Differences.between(
        [each.ours for each in comparisons], [each.scite for each in comparisons]
    )
    return TostResult(tests(differences, margin), tuple(comparisons), tuple(scored), settings, found.name)


def _check_method(method: str, chains: int | None, steps: int | None) -> None:
    if method not in METHODS:
        raise OptionError(f"method (--method) is {method!r}", hint=f"use {' or '.join(METHODS)}")
    for name, value in (("chains", chains), ("steps", steps)):
        if value is None:
            continue
        if method == "search":
            raise OptionError(
                f"{name} (--{name}) is for chains, and the method is search", hint=f"leave {name} out"
            )
        whole(f"{name} (--{name})", value, 1, 2**31 - 1)


def _check_no_runs(**options: object) -> None:
    """Check that no option of runs is given, where trees come from files."""
    usual = {"device": "auto", "method": "chain", "encoding": "auto", "seed": DEFAULT_SEED, "stages": "fused"}
    for name, value in options.items():
        if value != usual.get(name):
            raise OptionError(
                f"{name} (--{name}) is for runs, and ours (--ours) are trees of files",
                hint=f"leave {name} out",
            )


def _device_and_encoding(
    device: str, encoding: str, stages: str, image: str | os.PathLike[str] | None
) -> tuple[Device, str]:
    """Return the device and the encoding of the runs."""
    from syclade.host.chains.backends.stages.opening import device_with_image
    from syclade.host.chains.encodings import encoding_name
    from syclade.host.device.choice import choose_device

    staged = stages != "fused"
    if image is not None:
        found, own = device_with_image(image, device, separate=staged)
        return found, own if encoding == "auto" else encoding
    found = choose_device(device)
    return found, encoding_name("ancestor" if staged and encoding == "auto" else encoding, found)


def _rates(
    folder: Reference,
    fp_rate: float | None,
    fn_rate: float | None,
    fn_rate_hom: float | None,
    hom_rate: float | None,
    merge_homozygous: bool,
) -> Rates:
    """Return SCITE's error rates: from the reference, else as given, else the thesis's."""
    from syclade.host.data.model.rates import Rates

    return Rates(
        folder.rate("fp_rate", fp_rate, FP_RATE),
        folder.rate("fn_rate", fn_rate, FN_RATE),
        folder.rate("fn_rate_hom", fn_rate_hom, None),
        folder.rate("hom_rate", hom_rate, None),
        merge_homozygous,
    )


def _compare_all(
    scored: Sequence[ScoredInput],
    settings: RunSettings,
    keep: Path | None,
    force: bool,
    progress: Progress | None,
) -> list[Comparison]:
    """Infer every input, one after the other."""
    from syclade.quality.tost.runs import compare

    comparisons = []
    steps = (settings.chains or 1) * (settings.steps or 1)
    total = len(scored) * steps
    for number, each in enumerate(scored):
        before = number * steps
        what = f"input {each.name}, {number + 1} of {len(scored)}"

        def step(done: float, what: str = what, before: int = before) -> None:
            if progress is not None:
                progress(what, before + min(done, steps), total)

        step(0)
        comparisons.append(compare(each, settings, keep, force, step))
    return comparisons
