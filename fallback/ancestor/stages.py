"""The stages of the macro-pipeline in numpy, by name: one call of each, in order, is one step of a chain.

A stage is a function (arrays, slots, parts). It reads and writes the arrays that
kernels/ancestor/stage_arguments.py declares for the stage of this name, in the same shapes, for the slots
with these numbers (int64, all different).
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.find_parent import find_parent
from syclade.fallback.ancestor.parts import Arrays, ChainParts
from syclade.fallback.ancestor.propose import propose
from syclade.fallback.ancestor.reduction import reduction
from syclade.fallback.ancestor.score_mapping import score_mapping
from syclade.fallback.ancestor.tree_update import tree_update

Stage: TypeAlias = Callable[[Arrays, NDArray[np.int64], ChainParts], None]

STAGES: Mapping[str, Stage] = {
    "propose": propose,
    "find_parent": find_parent,
    "tree_update": tree_update,
    "score_mapping": score_mapping,
    "reduction": reduction,
}
