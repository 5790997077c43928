"""Settings of `lofreq call` to compare: each option that changes records, alone and with others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from syclade.host.ground.options.calls import CallOptions, call_flag

__all__ = ["SETTINGS", "Setting"]


@dataclass(frozen=True)
class Setting:
    """Options of both programs.

    Attributes:
        given: the options, by name.
        region: a region; None without.
        bed: regions, as lines of BED; empty without.
        reads: which reads both get: `reads`, those with LoFreq's qualities of indels (`indelqual`), or with
            all of its tags (`alnqual`).
        own: which reads syclade gets, where it gets others; empty otherwise.
    """

    given: tuple[tuple[str, Any], ...] = ()
    region: str | None = None
    bed: tuple[str, ...] = ()
    reads: str = "reads"
    own: str = ""

    @property
    def options(self) -> CallOptions:
        """The options of syclade."""
        return CallOptions(**{**dict(self.given), "compat": True, "drop_filtered": True})

    @property
    def words(self) -> list[str]:
        """The options on the command line of either program, without regions."""
        words = []
        for name, value in self.given:
            letter = CallOptions.table[name].letter
            flag = f"-{letter}" if letter else call_flag(name)
            words += [flag] if value is True else [flag, str(value)]
        return words

    @property
    def label(self) -> str:
        """The options in a word or some."""
        words = [*self.words, *(["-r"] if self.region else []), *(["-l"] if self.bed else [])]
        return " ".join(words) or "none"


def _of(name: str, value: Any, *more: tuple[str, Any], reads: str = "reads") -> Setting:
    return Setting(((name, value), *more), reads=reads)


_INDELS, _OPEN = ("call_indels", True), ("no_default_filter", True)
_NO_BAQ, _NO_MQ = ("no_baq", True), ("no_mq", True)

SETTINGS = (
    Setting(),
    Setting(region="first:101-500"),
    Setting(region="second"),
    Setting(bed=("first\t50\t300", "first\t320\t321", "second\t0\t200")),
    _of("min_bq", 20, ("min_alt_bq", 20)),
    _of("min_bq", 3, ("min_alt_bq", 30)),
    _of("min_alt_bq", 25),
    _of("def_alt_bq", 20),
    _of("def_alt_bq", -1),
    _of("def_alt_bq", -1, _NO_BAQ, _NO_MQ, _OPEN),
    _of("min_jq", 12),
    _of("min_jq", 20, _NO_BAQ, _NO_MQ),
    _of("min_alt_jq", 15),
    _of("min_alt_jq", 15, _OPEN),
    _of("def_alt_jq", 15),
    _of("def_alt_jq", 30, ("min_alt_jq", 10), _OPEN),
    _of("no_baq", True),
    _of("no_baq", True, _OPEN),
    _of("no_ext_baq", True),
    _of("no_ext_baq", True, _INDELS, _OPEN, reads="indelqual"),
    _of("del_baq", True, reads="alnqual"),
    _of("del_baq", True, _INDELS, reads="alnqual"),
    _of("no_idaq", True, _INDELS, reads="indelqual"),
    _of("min_mq", 20),
    _of("max_mq", 30),
    _of("max_mq", 30, ("min_mq", 10)),
    _of("no_mq", True),
    _of("no_mq", True, _INDELS, reads="indelqual"),
    _of("call_indels", True, reads="indelqual"),
    Setting((_INDELS,), reads="indelqual", own="reads"),
    _of("call_indels", True, reads="alnqual"),
    _of("call_indels", True, _OPEN, ("sig", 0.5), reads="indelqual"),
    _of("only_indels", True, _INDELS, reads="indelqual"),
    _of("sig", 0.05),
    _of("sig", 0.5, _OPEN),
    _of("bonf", 1),
    _of("bonf", 1, _OPEN),
    _of("bonf", 100000, _INDELS, reads="indelqual"),
    _of("min_cov", 60),
    _of("min_cov", 60, _INDELS, reads="indelqual"),
    _of("max_depth", 30),
    _of("max_depth", 20, _OPEN),
    _of("max_depth", 60, _INDELS, reads="indelqual"),
    Setting((("max_depth", 25), _OPEN), region="first:301-700"),
    _of("illumina_1_3", True, ("min_bq", 0), ("min_alt_bq", 0), _NO_BAQ, _OPEN),
    _of("use_orphan", True),
    _of("use_orphan", True, ("max_mq", 30)),
    _of("no_default_filter", True),
)
"""Regions are those of `random_reads`."""
