"""Which features go together, and why others do not: the one table of it.

A feature is an option that is given (its value is not the default), or one of FEATURES: an option with
particular values. Rules about a device apply to its name; where only the chosen device shows its kind, the
code that opens it asks `refusal`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import Options, flag_of, is_given

__all__ = [
    "EXCLUSIONS",
    "FEATURES",
    "NEEDS",
    "Exclusion",
    "Need",
    "check_together",
    "excluded_by",
    "refusal",
    "title_of",
]

FEATURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "cell trees": ("tree", ("leaf",)),
    "search": ("method", ("search",)),
    "evidence": ("evidence", ("likelihoods", "reads")),
    "annealing": ("method", ("anneal",)),
    "chain method": ("method", ("chain",)),
    "rates of mutations": ("dropout", ("per-mutation",)),
    "support": ("support", ("quick", "full")),
    "sum score": ("score", ("sum",)),
    "shares score": ("score", ("shares",)),
    "learned doublets": ("doublets", ("learn",)),
    "starts by search": ("start", ("search",)),
    "separate stages": ("stages", ("separate", "overlapping")),
    "stages in five kernels": ("stages", ("separate",)),
    "overlapping stages": ("stages", ("overlapping",)),
    "ancestor encoding": ("encoding", ("ancestor",)),
    "other encodings": ("encoding", ("preorder", "clade", "plain")),
    "FPGA cards": ("device", ("fpga",)),
    "Python as device": ("device", ("python",)),
    "several devices": ("device", ("*,*",)),
}
"""Features that are an option with one of some values, or with a value of a pattern, as for `fnmatch`."""


class Exclusion(NamedTuple):
    """A feature that does not go with others.

    Attributes:
        feature: the feature.
        others: features that do not go with it.
        why: the reason.
        instead: what to use instead of the feature; empty for nothing in particular.
    """

    feature: str
    others: tuple[str, ...]
    why: str
    instead: str = ""


class Need(NamedTuple):
    """A feature that needs another.

    Attributes:
        feature: the feature.
        needed: what it needs.
        why: the reason, or what to do.
        of: a feature without which it needs nothing; empty for none.
    """

    feature: str
    needed: str
    why: str
    of: str = ""


_LEARNED = ("learn_fn", "learn_fp", "learn_doublets")

# fmt: off
EXCLUSIONS = (
    Exclusion("cell trees",
        ("image", "attach", "max_trees", "true_tree", "trace", "sum score", "shares score", "separate stages",
            "FPGA cards"),
        "cell trees have the maximum score, and their leaves are the cells"),
    Exclusion("separate stages",
        ("other encodings", "shares score", "learn_doublets"),
        "separate stages run chains on the encoding ancestor", flag_of("stages", "fused")),
    Exclusion("overlapping stages", ("image", "FPGA cards"),
        "an image has the five stages, each as a kernel", flag_of("stages", "separate")),
    Exclusion("doublets",
        ("cell trees", "sum score", "shares score", "image", "max_trees", "separate stages", "FPGA cards"),
        "scores with doublets add up all nodes and pairs of mutation trees"),
    Exclusion("recurrent",
        ("cell trees", "image", "max_trees", "separate stages", "FPGA cards"),
        "a recurrent mutation has two nodes in mutation trees"),
    Exclusion("search",
        ("chains", "steps", "image", "samples", "sum score", "shares score", *_LEARNED, "starts by search",
            "separate stages", "FPGA cards", "Python as device"),
        "only chains support it", flag_of("method", "chain")),
    Exclusion("annealing",
        ("steps", "image", "samples", "shares score", *_LEARNED, "separate stages", "FPGA cards",
            "Python as device"),
        "annealing ends by itself, and its chains do not sample", flag_of("method", "chain")),
    Exclusion("support",
        ("cell trees", "recurrent", "steps", "image", "samples", *_LEARNED, "separate stages",
            "FPGA cards", "Python as device", "chain method"),
        "support is sampled after a search for mutation trees, with fixed rates", flag_of("support", "none")),
    Exclusion("rates of mutations",
        ("cell trees", "doublets", "fn_rate_hom", "steps", "image", "samples", *_LEARNED, "separate stages",
            "FPGA cards", "Python as device", "chain method", "sum score"),
        "only chains for support sample the rates of mutations, of single cells without zygosity",
        flag_of("dropout", "auto")),
    Exclusion("rates of mutations", ("allelic_dropout",),
        "one is for all mutations, the other estimates one for each"),
    Exclusion("evidence",
        ("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate", "merge_homozygous", "learn_fn", "learn_fp"),
        "likelihoods and reads say themselves how probable errors are: rates are of calls",
        flag_of("evidence", "calls")),
    Exclusion("evidence",
        ("image", "separate stages", "FPGA cards"),
        "their kernels are for few kinds of observed values", flag_of("evidence", "calls")),
    Exclusion("several devices", ("image", "separate stages", "scheduler"),
        "places that share the work have fused stages and no images; workers share it already"),
    Exclusion("scheduler", ("image", "separate stages", "FPGA cards"),
        "workers run fused stages and have no images"),
    Exclusion("image", ("learn_doublets",), "precompiled images have no doublets"),
    Exclusion("shares score", ("recurrent", *_LEARNED),
        "shares of the cells are sampled with fixed rates, for mutations that occur once",
        flag_of("score", "sum")),
    Exclusion("shares score", ("gamma",), "shares are drawn from the posterior: gamma is 1"),
    Exclusion("shares score", ("ancestor encoding", "image", "FPGA cards"),
        "only the encodings preorder and plain have shares of the cells, and no precompiled images"),
    Exclusion("max_trees", ("sum score", "shares score"),
        f"only the maximum score has co-optimal trees; {flag_of('samples')} shows other likely trees"),
    Exclusion("merge_homozygous", ("fn_rate_hom", "hom_rate"),
        "either 2 is treated as 1, or it has rates of its own"),
    Exclusion("quiet", ("verbose",), "one reduces the output, the other extends it"),
)
"""Features that do not go together. The first rule that applies gives the message."""

_LENGTH = f"set the length of the chains: {flag_of('steps', 'N')}"
_SUCH_AS = "only learned rates have priors: give a probability such as 0.2"
_BOTH = "an observed 2 needs two probabilities: with the mutation (SCITE's second -ad) and without it (-cc)"

NEEDS = (
    Need("samples", "steps", _LENGTH),
    Need("shares score", "steps", _LENGTH),
    Need("learn_fn", "steps", _LENGTH),
    Need("learn_fp", "steps", _LENGTH),
    Need("learn_doublets", "steps", _LENGTH),
    Need("learned doublets", "steps",
        f"{_LENGTH}, or leave out the options of chains to estimate the rate", of="chain method"),
    Need("learn_doublets", "doublets", "set the mean of the rate's prior"),
    Need("fn_sd", "learn_fn", _SUCH_AS),
    Need("fn_step", "learn_fn", _SUCH_AS),
    Need("fp_sd", "learn_fp", _SUCH_AS),
    Need("fp_step", "learn_fp", _SUCH_AS),
    Need("unmutated_counts", "learn_fp",
        "the counts say something of a rate that is learned: give a probability such as 0.2"),
    Need("doublets_sd", "learn_doublets", _SUCH_AS),
    Need("doublets_step", "learn_doublets", _SUCH_AS),
    Need("fn_rate_hom", "hom_rate", _BOTH),
    Need("hom_rate", "fn_rate_hom", _BOTH),
    Need("floor", "evidence", "calls have error rates instead"),
    *(Need(name, "evidence", "only reads have a model of reads")
        for name in ("seq_error", "allelic_dropout", "overdispersion", "error_overdispersion")),
    Need("FPGA cards", "image", "cards compile no kernels: export the stages, and make an image of them",
        of="stages in five kernels"),
    Need("trace", "separate stages", "only they and overlapping ones have a timeline"),
    Need("netcdf", "samples", "the file has the samples"),
    Need("netcdf", "out", "set the directory of the file"),
    Need("anndata", "out", "set the directory of the file"),
    Need("report", "out", "set the directory of the page"),
    Need("title", "report", "it is the report's title"),
    Need("highlight", "report", "the report shows these mutations"),
    Need("multiqc", "out", "set the directory of the file"),
)
"""Features that need others."""
# fmt: on


def title_of(feature: str, options: Options | None = None) -> str:
    """Return a feature as users give it, such as `--method search` or `--image`.

    Args:
        feature: the feature.
        options: options that have it; without them, the first of the feature's values is taken.
    """
    if feature not in FEATURES:
        return flag_of(feature)
    name, values = FEATURES[feature]
    return flag_of(name, values[0] if options is None else getattr(options, name))


def check_together(options: Options, error: type[OptionError] = OptionError) -> None:
    """Check that options go together.

    Args:
        options: the options.
        error: the exception to raise.

    Raises:
        OptionError: two of them do not go together, or one that is needed is missing.
    """
    for rule in EXCLUSIONS:
        for other in excluded_by(rule.feature, options) if _has(options, rule.feature) else ():
            raise refusal(rule.feature, other, options, error)
    for need in NEEDS:
        applies = _has(options, need.feature) and (not need.of or _has(options, need.of))
        if applies and not _has(options, need.needed):
            raise error(f"{title_of(need.feature)} without {title_of(need.needed)}", hint=need.why)


def excluded_by(feature: str, options: Options) -> Iterator[str]:
    """Yield those features of options that do not go with a feature."""
    others = (other for rule in EXCLUSIONS if rule.feature == feature for other in rule.others)
    return (other for other in others if _has(options, other))


def refusal(
    feature: str,
    other: str,
    options: Options | None = None,
    error: type[OptionError] = OptionError,
) -> OptionError:
    """Return the error for two features of EXCLUSIONS that do not go together."""
    rule = next(rule for rule in EXCLUSIONS if rule.feature == feature and other in rule.others)
    title = title_of(other, options)
    instead = f", or use {rule.instead}" if rule.instead else ""
    return error(
        f"{title} does not go with {title_of(feature, options)}",
        hint=f"{rule.why}: leave out {title}{instead}",
    )


def _has(options: Options, feature: str) -> bool:
    """Return whether options have a feature."""
    if feature not in FEATURES:
        return is_given(options, feature)
    name, values = FEATURES[feature]
    value = getattr(options, name)
    return isinstance(value, str) and any(fnmatchcase(value, one) for one in values)
