"""Traits of the target `native`; the precompiled kernels in the package are for these."""

from syclade.kernels.target.traits import Traits

TRAITS = Traits(
    lanes=16,  # scores in one register of AVX-512; with narrower registers, several hold them
    panel_rounds=8,  # 16 of the 32 registers of AVX-512
    sketches_beyond=768,
)
