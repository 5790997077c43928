"""Summary of calling as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import syclade
from syclade.host.calls.kinds import INDEL, SNV
from syclade.host.calls.options import CallOptions
from syclade.host.calls.run import Called
from syclade.host.devices.device import native_device
from syclade.host.devices.work import work_dicts

__all__ = ["summary_of"]


def summary_of(
    called: Called, options: CallOptions, reference: Path, files: Sequence[Path], seconds: float
) -> dict[str, Any]:
    """Return the summary for JSON; limits of kinds that were not called are None.

    Args:
        called: what was called.
        options: what decided the records.
        reference: the reference's file.
        files: the files that were written.
        seconds: time of the run.
    """
    samples = []
    for number, (sample, limits) in enumerate(zip(called.samples, called.limits, strict=True)):
        calls = [variant.calls[number] for variant in called.variants]
        significant = [call for call in calls if call.quality >= limits[call.allele.kind].quality]
        bases, indels = limits.get(SNV), limits.get(INDEL)
        samples.append(
            {
                "sample": sample.name,
                "reads": str(sample.path),
                "columns_tested": called.tested[number][SNV],
                "tests": bases and bases.tests,
                "min_quality": bases and bases.quality,
                "indels_tested": called.tested[number][INDEL],
                "indel_tests": indels and indels.tests,
                "min_indel_quality": indels and indels.quality,
                "variants": len(significant),
                "passed": sum(not call.filters for call in significant),
            }
        )
    return {
        "version": syclade.__version__,
        "reference": str(reference),
        "samples": samples,
        "records": len(called.variants),
        "positions": called.positions,
        "covered": called.covered,
        "mean_depth": called.bases / max(1, called.positions) / len(called.samples),
        "alignments": called.records,
        "alignments_without_bases": called.empty,
        "options": {name: getattr(options, name) for name in options.__dataclass_fields__},
        "counting": native_device().filter,
        "work": work_dicts(called.work),
        "files": [str(path) for path in files],
        "seconds": round(seconds, 3),
    }
