"""Somatic variants: those of a tumour that a normal sample of the same person does not have.

The steps are those of `lofreq somatic`. The tumour is called with limits of its own. What is called in the
normal, as a single test without alignment and mapping qualities, is not somatic. Of what is left, the
normal's reads must rule out the frequency of a germline variant, by a binomial test. The normal is counted
at the tumour's variants only. LoFreq corrects that test for a false discovery rate, and then accepts every
p-value up to the level in any case; so there is no correction here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from syclade.host.calls.alleles import INDEL, Allele, Call
from syclade.host.calls.kernels import Place
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import TO_ALT, Interval, Site, Sites, fields_of, vcf_lines_of
from syclade.host.calls.run import Called, Progress, Sample, Status, Variant, call_variants
from syclade.host.calls.windows import WINDOW
from syclade.host.device.cluster.workers import Workers
from syclade.host.device.work import merged_work
from syclade.host.ground.errors import ReadsError
from syclade.host.ground.options.calls import FILTERS, CallOptions
from syclade.host.ground.packages import pysam_of

__all__ = ["TumourOptions", "call_somatic", "log_binomial_tail", "tumour_options"]

SINGLE = 0.01
"""Level of a single test of the tumour."""

_DEPTH = 7
"""Reads that a record of the tumour needs, by default."""

_INDELS = 0.1
"""Part of the largest p-value that holds for indels."""

_MOST = 0.999
"""Largest frequency to rule out: of a variant of all reads, a few have another base by error."""

_MOST_QUALITY = 2**31 - 1

_UNFILTERED: dict[str, object] = {
    **{name: CallOptions.table[name].default for name in FILTERS},
    "no_default_filter": True,
    "drop_filtered": False,
    "min_cov": 1,
}
"""Options of the normal: all its variants count."""

Locus = tuple[str, int, str, str]
"""Contig, position from 0, REF and ALT."""


class TumourOptions(CallOptions):
    """Options of the tumour, with the levels of somatic calling."""

    @property
    def least_depth(self) -> int:
        """Reads that a record needs to pass."""
        return _DEPTH if self.min_dp is None and not self.no_default_filter else super().least_depth

    @property
    def single_level(self) -> float:
        """The level of a single test."""
        return min(SINGLE, max(self.somatic_sig, self.somatic_indel_sig))

    def level_of(self, indels: bool) -> float:
        """Return the level for all tests of a kind together."""
        return self.somatic_indel_sig if indels else self.somatic_sig

    def least_quality(self, tests: int, indels: bool) -> int:
        """Return the least integer quality whose p-value times the tests is below the level."""
        together = math.floor(10.0 * math.log10(tests / self.level_of(indels))) + 1
        return max(0, together, int(-10.0 * math.log10(self.single_level)))


def tumour_options(options: CallOptions) -> TumourOptions:
    """Return the options of the tumour: columns whose variants could not pass are not tested."""
    made = TumourOptions(**options.to_dict())
    return made.replace(min_cov=max(made.min_cov, made.least_depth))


def call_somatic(
    reference: Reference,
    tumour: Sample,
    normal: Sample,
    intervals: Sequence[Interval],
    options: CallOptions,
    *,
    known: Path | None = None,
    threads: int | None = None,
    place: Place | Workers | None = None,
    progress: Progress | None = None,
) -> Called:
    """Call the variants of a tumour, and judge each by a normal sample.

    Args:
        reference: the reference.
        tumour, normal: the samples, by `samples_of`.
        intervals: what to call, by `merged`.
        options: what decides the records.
        known: VCF of germline variants.
        threads, place, progress: see `call_variants`.

    Raises:
        ReadsError: a file is damaged, or a read cannot be used.
        DeviceError: a kernel cannot be compiled, or the device cannot be used.
        WorkersError: the workers do not answer.
    """
    count = partial(call_variants, reference, threads=threads, place=place)
    called = count([tumour], intervals, tumour_options(options), progress=progress)
    candidates = [(one.contig, one.calls[0].allele) for one in called.variants]
    in_normal = _normal_calls(options)
    of_normal = count([normal], _around(candidates), in_normal, sites=_sites(candidates))
    normals = {_locus(one.contig, one.calls[0].allele): one.calls[0] for one in of_normal.variants}
    limits = of_normal.limits[0]
    significant = {
        locus
        for locus, call in normals.items()
        if call.allele.count and call.quality >= limits[call.allele.kind].quality
    }
    indels = {locus[:2] for locus in significant if normals[locus].allele.kind is INDEL}
    left = [
        (contig, one)
        for contig, one in candidates
        if not _is_in(_locus(contig, one), one, significant, indels)
    ]
    tested = count([normal], _around(left), _normal_counts(options), sites=_sites(left))
    wanted = {_locus(*one) for one in left}  # the intervals have other variants, too
    found = [(_locus(one.contig, one.calls[0].allele), one.calls[0].allele) for one in tested.variants]
    counted = {locus: allele for locus, allele in found if locus in wanted}
    listed = _listed(known, left, reference.lengths)
    variants = [
        _judged(one, normals[_locus(one.contig, one.calls[0].allele)], counted, listed, options)
        for one in called.variants
    ]
    if options.drop_filtered:
        variants = [one for one in variants if not one.calls[0].filters]
    return Called(
        (tumour, normal),
        (called.limits[0], limits),
        tuple(variants),
        (called.tested[0], of_normal.tested[0]),
        called.positions,
        (called.columns[0], of_normal.columns[0]),
        (called.reads[0], of_normal.reads[0]),
        merged_work((called.work, of_normal.work, tested.work)),
        is_somatic=True,
    )


def _normal_calls(options: CallOptions) -> CallOptions:
    """Return the options by which variants of the normal are called: all that may be one."""
    return options.replace(
        no_baq=True,
        no_mq=True,
        no_idaq=True,
        use_orphan=True,
        sig=options.normal_sig,
        bonf=1,
        **_UNFILTERED,
    )


def _normal_counts(options: CallOptions) -> CallOptions:
    """Return the options by which the normal's reads are counted: only those whose place is known."""
    return options.replace(no_baq=True, no_idaq=True, min_mq=max(1, options.min_mq), bonf=1, **_UNFILTERED)


def _locus(contig: str, allele: Allele) -> Locus:
    return contig, allele.position, allele.reference, allele.alternative


def _is_in(locus: Locus, allele: Allele, alleles: set[Locus], indels: set[tuple[str, int]]) -> bool:
    """Return whether the normal has a variant: an indel counts if any is called at its position."""
    return locus[:2] in indels if allele.kind is INDEL else locus in alleles


def _around(candidates: Iterable[tuple[str, Allele]]) -> list[Interval]:
    """Return intervals that have all candidates, which are in order; those in a window's reach are one."""
    found: list[Interval] = []
    for contig, allele in candidates:
        at = allele.position
        if found and found[-1].contig == contig and at < found[-1].end + WINDOW:
            found[-1] = Interval(contig, found[-1].begin, max(found[-1].end, at + 1))
        else:
            found.append(Interval(contig, at, at + 1))
    return found


def _sites(candidates: Iterable[tuple[str, Allele]]) -> Sites:
    """Return candidates as sites, so that the normal has a record of each."""
    found: dict[str, dict[int, tuple[Site, ...]]] = {}
    for contig, allele in candidates:
        here = found.setdefault(contig, {})
        site = Site(allele.reference, allele.alternative, ".")
        here[allele.position] = (*here.get(allele.position, ()), site)
    return found


def _judged(
    variant: Variant,
    normal: Call,
    counted: Mapping[Locus, Allele],
    listed: set[Locus],
    options: CallOptions,
) -> Variant:
    """Return a variant of the tumour with the normal's call, its status, and the filter that follows."""
    (call,) = variant.calls
    locus = _locus(variant.contig, call.allele)
    unique = None
    if locus not in counted:
        status = "in_normal"
    else:
        log_p = _log_unique(counted[locus], call.allele, options)
        unique = min(_MOST_QUALITY, int(-10.0 / math.log(10.0) * log_p))
        level = options.normal_alpha * (_INDELS if call.allele.kind is INDEL else 1.0)
        uncertain = log_p > math.log(level) + 1e-12
        status = "uncertain" if uncertain else "known" if locus in listed else "somatic"
    more = () if status == "somatic" else (status,)
    return Variant(
        variant.contig,
        (replace(call, filters=(*call.filters, *more)), normal),
        variant.site,
        Status(status, unique),
    )


def _log_unique(normal: Allele, tumour: Allele, options: CallOptions) -> float:
    """Return ln of the p-value that the normal has the variant, at the frequency to rule out."""
    frequency = options.normal_af
    if frequency == 0.0:
        frequency = sum(tumour.dp4[2:]) / max(1, tumour.counted)
    return log_binomial_tail(sum(normal.dp4[2:]), normal.counted, min(frequency, _MOST))


def log_binomial_tail(most: int, trials: int, p: float) -> float:
    """Return ln P(X ≤ most) of a binomial distribution, also where it is below the smallest float64.

    Args:
        most: number of successes, 0 to `trials`.
        trials: number of trials.
        p: probability of a success, above 0 and below 1.
    """
    from scipy.special import gammaln

    if most >= trials:
        return 0.0
    k = np.arange(most + 1)
    logs = gammaln(trials + 1) - gammaln(k + 1) - gammaln(trials - k + 1)
    logs += k * math.log(p) + (trials - k) * math.log1p(-p)
    largest = float(logs.max())
    return min(0.0, largest + math.log(float(np.exp(logs - largest).sum())))


def _listed(
    path: Path | None, candidates: Sequence[tuple[str, Allele]], contigs: Collection[str]
) -> set[Locus]:
    """Return the candidates that a VCF has: the same base, or any indel at the same position.

    Args:
        path: the VCF; None for none. With an index, only the candidates' positions are read.
        candidates: contigs and alleles.
        contigs: those of the reference.

    Raises:
        ReadsError: the file cannot be read, is not a VCF, or has other contigs.
    """
    if path is None or not candidates:
        return set()
    wanted = {(contig, one.position + 1) for contig, one in candidates}
    bases: set[tuple[str, int, str, str]] = set()
    indels: set[tuple[str, int]] = set()
    for number, line in _lines_at(path, wanted, contigs):
        fields = fields_of(line, TO_ALT, path, number)
        place = fields[0], int(fields[1])
        if place in wanted:
            reference, others = fields[3].upper(), fields[4].upper().split(",")
            bases |= {(*place, reference, other) for other in others}
            if any(len(other) != len(reference) for other in others if set(other) <= set("ACGTN")):
                indels.add(place)
    found = set()
    for contig, one in candidates:
        place = contig, one.position + 1
        if place in indels if one.kind is INDEL else (*place, one.reference, one.alternative) in bases:
            found.add(_locus(contig, one))
    return found


def _lines_at(
    path: Path, wanted: set[tuple[str, int]], contigs: Collection[str]
) -> Iterator[tuple[int | None, str]]:
    """Yield records of a VCF: by its index those at some positions, else all with their line."""
    if not any(path.with_name(path.name + end).exists() for end in (".tbi", ".csi")):
        known, other = False, ""
        for number, line in vcf_lines_of(path):
            if not line.startswith("#"):
                here = line.partition("\t")[0]
                known, other = known or here in contigs, here
                yield number, line
        if other and not known:
            raise _other_contigs(path, other)
        return
    try:
        with pysam_of().TabixFile(str(path)) as file:
            there = set(file.contigs)
            if there and not there & set(contigs):
                raise _other_contigs(path, file.contigs[0])
            for contig, position in sorted(wanted):
                if contig in there:
                    yield from ((None, line) for line in file.fetch(contig, position - 1, position))
    except (OSError, ValueError) as problem:
        raise ReadsError(
            f"cannot be read by its index: {problem}", path=path, hint="make the index again: tabix -p vcf"
        ) from problem


def _other_contigs(path: Path, name: str) -> ReadsError:
    return ReadsError(
        f"it has no contig of the reference, but {name!r}",
        path=path,
        hint="rename its contigs by bcftools annotate",
    )
