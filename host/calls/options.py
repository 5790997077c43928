"""Options of calling: names and defaults are LoFreq's."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.calls import CALL_OPTIONS, call_flag

__all__ = ["DEFAULTS", "CallOptions"]


@dataclass(frozen=True)
class CallOptions:
    """Options that determine the records.

    Attributes:
        min_bq: bases of lower quality are skipped.
        min_alt_bq: likewise for alternative bases.
        def_alt_bq: quality that replaces that of alternative bases; 0 none, -1 the median of the reference
            bases.
        min_jq, min_alt_jq: likewise for joint qualities, of all and of alternative bases.
        def_alt_jq: joint quality that replaces that of alternative bases; 0 none.
        min_mq: reads of lower mapping quality are skipped.
        max_mq: higher mapping qualities are replaced by this one.
        no_mq: whether mapping qualities are ignored.
        no_baq: whether base alignment qualities are not used.
        no_ext_baq: whether base alignment qualities are not extended.
        del_baq: whether base alignment qualities are computed for reads that have them stored, too.
        sig: significance level.
        bonf: number of tests to correct for; None for those done.
        assume_quality: base quality of reads that have none; None: such reads are refused.
        min_cov: columns with fewer bases are not tested.
        max_depth: a column takes no more reads than this.
        illumina_1_3: whether 31 is subtracted from base qualities.
        use_orphan: whether reads of improper pairs count.
        call_indels: whether indels are called, too.
        only_indels: whether nothing else is called.
        no_idaq: whether alignment qualities of gaps are not used.
        keep_homopolymers: whether indels are tested in any homopolymer.
        ignore_md5: whether a reference with another MD5 than the reads' header has is used.
        no_default_filter: whether depth and strand bias are not filtered.
        drop_filtered: whether records that do not pass are left out, as LoFreq does, instead of tagged.
        compat: whether LoFreq's records are repeated, with its faults.

    Raises:
        OptionError: a value is out of its range.
    """

    min_bq: int = 6
    min_alt_bq: int = 6
    def_alt_bq: int = 0
    min_jq: int = 0
    min_alt_jq: int = 0
    def_alt_jq: int = 0
    min_mq: int = 0
    max_mq: int = 255
    no_mq: bool = False
    no_baq: bool = False
    no_ext_baq: bool = False
    del_baq: bool = False
    sig: float = 0.01
    bonf: int | None = None
    assume_quality: int | None = None
    min_cov: int = 1
    max_depth: int = 1000000
    illumina_1_3: bool = False
    use_orphan: bool = False
    call_indels: bool = False
    only_indels: bool = False
    no_idaq: bool = False
    keep_homopolymers: bool = False
    ignore_md5: bool = False
    no_default_filter: bool = False
    drop_filtered: bool = False
    compat: bool = False

    @property
    def ignores_digests(self) -> bool:
        """Return whether a reference with another MD5 than expected is used: LoFreq does not compare them."""
        return self.ignore_md5 or self.compat

    def __post_init__(self) -> None:
        for name, option in CALL_OPTIONS.items():
            value = getattr(self, name)
            if option.low is None or option.high is None or (value is None and option.default is None):
                continue
            if not option.low <= value <= option.high:
                raise OptionError(
                    f"{call_flag(name)} is {value}", hint=f"give a number from {option.low} to {option.high}"
                )
        if not 0 < self.sig <= 1:
            raise OptionError(f"{call_flag('sig')} is {self.sig}", hint="give a number above 0, at most 1")
        if self.only_indels and not self.call_indels:
            raise OptionError(
                f"{call_flag('only_indels')} does not go without {call_flag('call_indels')}",
                hint=f"add {call_flag('call_indels')}",
            )
        if self.keep_homopolymers and self.compat:
            raise OptionError(
                f"{call_flag('keep_homopolymers')} does not go with {call_flag('compat')}",
                hint="LoFreq leaves these indels out",
            )
        if self.bonf is not None and self.bonf < 1:
            raise OptionError(f"{call_flag('bonf')} is {self.bonf}", hint="give dynamic, or a number from 1")

    @property
    def level(self) -> float:
        """The significance level; LoFreq stores it in single precision."""
        return float(np.float32(self.sig)) if self.compat else self.sig

    @property
    def most_in_column(self) -> int:
        """The reads that a column takes; LoFreq limits those of the pileup instead."""
        return 2**31 - 1 if self.compat else self.max_depth


DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(CallOptions)}
"""Default of each option."""
