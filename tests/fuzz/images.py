"""Images of compiled kernels, and vendors' files with a manifest: accepted ones are as they were made."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from random import Random
from typing import Any

from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import chain_kernel
from syclade.host.device.compile.image import Image
from syclade.host.device.compile.image_files import packed, read_image
from syclade.host.ground.errors import SycladeError
from syclade.kernels.target.sycl_traits import TRAITS
from tests.fuzz.damage import damaged
from tests.support.backends import Case

__all__ = ["Images"]

BINARY = bytes(range(256)) + b"\x7fELF" + b"\n" * 3
ODD: tuple[Any, ...] = (
    None, 0, -1, 64, 2**70, 1.5, "", "cpu", "64", [], {}, [[]], {"nodes": {}}, [["a", "b"]], True,
    float("inf"),
)  # fmt: skip
NESTED = b"[" * 100_000
SMALL, LARGE = Case(5, 6), Case(70, 80)
DAMAGED, ODDLY_TOLD, VENDORS = range(3)


class Images:
    """Inputs of this kind: (how they were made, image, manifest)."""

    name = "images"

    def __init__(self, folder: Path) -> None:
        plan = SMALL.plan()
        self._encoding = AncestorEncoding(plan.problem, TRAITS, AncestorEncoding.capacity(TRAITS, 64, 64, 2))
        self._kernel = chain_kernel(plan, self._encoding)
        self._told: dict[str, Any] = {
            "syclade_image": 1,
            "kind": "cpu",
            "entry_point": self._kernel.name,
            "encoding": "ancestor",
            "constants": dict(self._kernel.constants),
            "arguments": [[argument.name, argument.dtype] for argument in self._kernel.arguments],
            "sources": self._kernel.sources,
            "identity": {"device": "a device", "driver": "1", "processor": "abacus"},
        }
        self._manifest = {
            "kernels": [
                {
                    "name": "chain_steps",
                    "entry_point": self._kernel.name,
                    "arguments": [
                        {"name": argument.name, "type": argument.dtype} for argument in self._kernel.arguments
                    ],
                }
            ],
            "encoding": "ancestor",
            "constants": dict(self._kernel.constants),
            "sources": self._kernel.sources,
        }
        self._good = packed(self._told, BINARY)
        self._file, self._beside = folder / "cpu.image", folder / "manifest.json"

    def make(self, draw: Random) -> tuple[int, bytes, bytes]:
        """Return one of three inputs.

        The image is damaged, or has an odd description with a matching digest, or is a vendor's file with a
        damaged manifest.
        """
        way = draw.randrange(10)
        manifest = json.dumps(self._manifest).encode()
        if way < 5:
            return DAMAGED, damaged(self._good, draw), b""
        if way < 8:
            report = json.loads(json.dumps(self._told))
            _change(report, draw)
            return ODDLY_TOLD, packed(report, draw.choice((BINARY, b""))), b""
        if draw.randrange(50) == 0:
            return draw.choice(
                ((DAMAGED, b'{"syclade_image": 1' + NESTED, b""), (VENDORS, b"\x7fELF", NESTED))
            )
        if way == 8:
            return VENDORS, b"\x7fELF", damaged(manifest, draw)
        described = json.loads(manifest)
        _change(described, draw)
        return VENDORS, b"\x7fELF", json.dumps(described).encode()

    def take(self, given: tuple[int, bytes, bytes]) -> None:
        """Read the image, and use it as the kernel for a problem that fits and one that does not."""
        how, content, manifest = given
        self._file.write_bytes(content)
        self._beside.write_bytes(manifest)
        image = read_image(self._file)
        _check_types(image)
        if how == DAMAGED:
            assert image.kind == "cpu"
            assert image.binary == BINARY
            assert dict(image.constants) == self._told["constants"]
            assert image.identity == self._told["identity"]
        assert image.key
        with contextlib.suppress(SycladeError):
            self._fit(image, LARGE)
        self._fit(image, SMALL)

    @staticmethod
    def _fit(image: Image, case: Case) -> None:
        plan = case.plan()
        encoding = AncestorEncoding(plan.problem, TRAITS)
        image.fit(chain_kernel(plan, encoding), encoding)


def _change(report: Any, draw: Random) -> None:
    """Replace or delete one entry of a description, at any depth."""
    places = list(report) if isinstance(report, dict) else list(range(len(report)))
    place = draw.choice(places)
    inner = report[place]
    if isinstance(inner, (dict, list)) and inner and draw.random() < 0.6:
        _change(inner, draw)
    elif draw.random() < 0.3:
        del report[place]
    else:
        report[place] = draw.choice(ODD)


def _check_types(image: Image) -> None:
    assert {type(name) for name in image.constants} <= {str}
    assert {type(size) for size in image.constants.values()} <= {int}
    for text in (image.kind, image.entry_point, image.encoding, image.sources):
        assert isinstance(text, str)
    assert all(isinstance(part, str) for argument in image.arguments for part in argument)
