"""Summary of calling as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import syclade
from syclade.host.calls.options import CallOptions
from syclade.host.calls.run import Called

__all__ = ["summary_of"]


def summary_of(
    called: Called, options: CallOptions, reference: Path, files: Sequence[Path], seconds: float
) -> dict[str, Any]:
    """Return the summary for JSON.

    Args:
        called: what was called.
        options: what decided the records.
        reference: the reference's file.
        files: the files that were written.
        seconds: time of the run.
    """
    samples = []
    for number, (sample, limit) in enumerate(zip(called.samples, called.thresholds, strict=True)):
        calls = [variant.calls[number] for variant in called.variants]
        significant = [call for call in calls if call.quality >= limit.quality]
        samples.append(
            {
                "sample": sample.name,
                "reads": str(sample.path),
                "columns_tested": called.tested[number],
                "tests": limit.tests,
                "min_quality": limit.quality,
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
        "files": [str(path) for path in files],
        "seconds": round(seconds, 3),
    }
