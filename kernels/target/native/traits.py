"""What suits the target `native`: the kernels that come with the package are for these."""

from syclade.kernels.target.traits import Traits

TRAITS = Traits(
    lanes=16,  # a register of AVX-512 has so many scores, and narrower registers take several
    panel_rounds=8,  # 16 of the 32 registers of AVX-512
    sketches_beyond=768,
)
