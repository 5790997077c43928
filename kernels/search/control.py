"""Control in a form that leaves lanes vectors.

The CPU device's compiler (2024.2) makes no vectors of lanes where a sum over lanes stands below a branch, or
in a loop inside another whose turns are not known before it begins. A loop of no or one turn does as well.
"""

from syclade.kernels.target import device_function


@device_function
def once_if(mask):
    """Turns of a loop that stands for a branch (int64)."""
    return -mask
