"""Runner of the numpy fallback: chain states in numpy arrays, in one of two encodings."""

from __future__ import annotations

from syclade.host.backends.array_runner import ArrayRunner, chain_arrays
from syclade.host.backends.numpy_arrays import NumpyArrays
from syclade.host.backends.numpy_steps import ancestor_steps, plain_steps
from syclade.host.chains.kernel import argument_records, chain_sizes
from syclade.host.chains.plan import Plan
from syclade.host.devices.device import NUMPY
from syclade.host.encodings.ancestor import AncestorEncoding
from syclade.host.encodings.base import Encoding
from syclade.host.encodings.plain import PlainEncoding
from syclade.kernels.ancestor.stage_arguments import BETWEEN_STAGES
from syclade.kernels.arguments import PROBLEM, SCRATCH

__all__ = ["NumpyRunner"]


class NumpyRunner(ArrayRunner):
    """A runner that advances all slots together: each numpy call works on many slots, on one core.

    Args:
        plan: the parts of the chains.
        encoding: `AncestorEncoding` for the stages on ancestor matrices, or `PlainEncoding`.
        slots: number of chain states that the runner holds at once.
        seed: seed of the random numbers.

    Raises:
        ValueError: the encoding is neither of the two.
    """

    executor = NUMPY

    def __init__(self, plan: Plan, encoding: Encoding, slots: int, seed: int) -> None:
        if not isinstance(encoding, AncestorEncoding | PlainEncoding):
            raise ValueError(f"numpy has no encoding {encoding.name!r}")
        super().__init__(plan, encoding, slots, seed)
        self._of_matrices = isinstance(encoding, AncestorEncoding)
        self._steps = ancestor_steps(plan) if self._of_matrices else plain_steps(plan)
        arguments = [one for record in argument_records(plan, encoding) for one in record.arguments]
        if self._of_matrices:
            arguments += BETWEEN_STAGES
            problem = chain_arrays(plan, encoding, seed)
        else:
            arguments = [one for one in arguments if one.role not in (PROBLEM, SCRATCH)]
            problem = {}
        self._numpy = NumpyArrays(arguments, chain_sizes(plan, encoding, slots), problem)
        self._arrays = self._numpy

    def _launch(self) -> None:
        # The state is replaced only at the end, so an interrupted launch has no effect.
        kept = (PROBLEM, SCRATCH)
        state = {
            name: array if self._arrays.arguments[name].role in kept else array.copy()
            for name, array in self._numpy.named.items()
        }
        self._steps.advance(state, self.seed)
        self._numpy.named = state

    @property
    def memory_bytes(self) -> int:
        """See `Runner.memory_bytes`."""
        return super().memory_bytes + self._steps.memory_bytes
