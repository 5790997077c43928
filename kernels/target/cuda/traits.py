"""Traits of the target `cuda`: the lanes of a slot are the threads of a warp."""

from syclade.kernels.target.traits import Traits

TRAITS = Traits(lanes=32, panel_rounds=8, sketches_beyond=768)
