"""Traits of the target `sycl`, measured on CPU devices; not in `sycl.py`, which imports the compiler."""

from syclade.kernels.target.traits import Traits

TRAITS = Traits(
    lanes=16,  # scores in one register of AVX-512; for words of bits, the fastest of 8, 16 and 32
    panel_rounds=8,  # 16 of the 32 registers of AVX-512
    sketches_beyond=768,
)
