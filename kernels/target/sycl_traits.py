"""What suits the target `sycl`, measured on CPU devices. Apart from `sycl.py`, which imports the compiler."""

from syclade.kernels.target.traits import Traits

TRAITS = Traits(
    lanes=16,  # one register of AVX-512 has so many scores; for words of bits, the fastest of 8, 16 and 32
    panel_rounds=8,  # 16 of the 32 registers of AVX-512
    sketches_beyond=768,
)
