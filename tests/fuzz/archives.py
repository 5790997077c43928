"""Archives of precompiled kernels: a damaged one is reported, and never gives another kernel."""

from __future__ import annotations

from pathlib import Path
from random import Random
from unittest import mock

from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import chain_kernel
from syclade.host.commands.ship.make import Compiled, write_archives
from syclade.host.device.compile import precompiled
from syclade.host.device.compile.precompiled import SPIRV, find_shipped, ship_key
from syclade.kernels.target.sycl_traits import TRAITS
from tests.fuzz.damage import damaged
from tests.support.backends import Case

__all__ = ["Archives"]


class Archives:
    """Inputs of this kind: the content of an archive whose second kernel is loaded."""

    name = "archives"

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "kernels"
        plan = Case(5, 6).plan()
        self._kernel = chain_kernel(plan, AncestorEncoding(plan.problem, TRAITS))
        keys = ("another", ship_key(self._kernel, SPIRV))
        kernels = [Compiled("chain-2", SPIRV, key, "entry", Random(key).randbytes(300)) for key in keys]
        (archive,) = write_archives(self._folder, {}, kernels)
        self._path = self._folder / archive
        self._good = self._path.read_bytes()
        self._expected = kernels[1].entry_point, kernels[1].content

    def make(self, draw: Random) -> bytes:
        """Return a damaged archive."""
        return damaged(self._good, draw)

    def take(self, given: bytes) -> None:
        """Load the kernel as a new process does."""
        self._path.write_bytes(given)
        with (
            mock.patch.object(precompiled, "_folder", return_value=self._folder),
            mock.patch.object(precompiled, "install_command", return_value="pip install"),  # takes 15 ms
        ):
            _forget()
            try:
                assert find_shipped(self._kernel, SPIRV) == self._expected
            finally:
                _forget()


def _forget() -> None:
    precompiled._by_key.cache_clear()
    precompiled._archive.cache_clear()
