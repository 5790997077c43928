"""Control flow that keeps lanes vectorised.

The CPU device's compiler (2024.2) does not vectorise over lanes if a sum over lanes is below a branch. Nor
does it if the sum is in a loop inside another one whose number of turns is not known before it begins. A loop
of zero turns or one turn can replace a branch.
"""

from syclade.kernels.target import device_function


@device_function
def once_if(mask):
    """Return the number of turns of a loop that replaces a branch on a mask: 0 or 1 (int64)."""
    return -mask
