"""How a tree stands in a kernel's memory: to and from parent vectors, and the kernels that go with it."""

from syclade.host.encodings.ancestor import AncestorEncoding
from syclade.host.encodings.base import Encoding

__all__ = ["Encoding", "make_encoding"]

ENCODINGS: dict[str, type[Encoding]] = {"ancestor": AncestorEncoding}


def make_encoding(name: str) -> type[Encoding]:
    """The encoding with this name."""
    return ENCODINGS[name]
