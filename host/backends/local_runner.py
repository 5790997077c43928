"""Chain states in arrays of this process, for kernels that run in this process."""

from __future__ import annotations

from syclade.host.backends.array_runner import ArrayRunner, chain_arrays
from syclade.host.backends.numpy_arrays import NumpyArrays
from syclade.host.chains.kernel import chain_kernel, chain_sizes
from syclade.host.chains.plan import Plan
from syclade.host.encodings.base import Encoding

__all__ = ["LocalRunner"]


class LocalRunner(ArrayRunner):
    """Common base of the runners of numba kernels and of kernels run by Python."""

    def __init__(self, plan: Plan, encoding: Encoding, slots: int, seed: int) -> None:
        super().__init__(plan, encoding, slots, seed)
        self._made = chain_kernel(plan, encoding)
        sizes = chain_sizes(plan, encoding, slots)
        local = NumpyArrays(self._made.arguments, sizes, chain_arrays(plan, encoding, seed))
        self._arrays = local
        self._flat = [local.named[argument.name].reshape(-1) for argument in self._made.arguments]

    def close(self) -> None:
        """See `Runner.close`."""
        self._flat = []
        super().close()
