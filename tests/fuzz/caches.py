"""Files of the cache: a damaged file counts as missing, so a read always returns what was written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random
from unittest import mock

from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import chain_kernel
from syclade.host.device.choice import list_devices
from syclade.host.device.compile import machine_code, program
from syclade.host.device.compile.translate import Spirv
from syclade.host.device.device import Device
from syclade.host.ground.cache import cache_folder
from syclade.kernels.target.sycl_traits import TRAITS
from tests.fuzz.damage import damaged
from tests.support.backends import Case

__all__ = ["Caches"]

SPIRV = Spirv("entry", bytes(range(256)) + b"\n")
CODE = "symbol", bytes(range(256))
DEVICES = [
    Device("opencl:cpu:0", "a processor", "cpu", 8, None, "1.2"),
    Device("opencl:accelerator:0", "an emulator", "fpga-emu", 8, None, "3"),
]
SAID = [
    {"devices": [asdict(device) for device in DEVICES]},
    *({"trying": device.filter} for device in DEVICES),
    *({"tried": device.filter, "reason": None} for device in DEVICES),
]
PROBED = partial(
    subprocess.CompletedProcess, returncode=0, stdout="\n".join(map(json.dumps, SAID)), stderr=""
)
INSTEAD = ("a folder", "a link to nowhere", "a link to itself", "nothing")
NESTED = b"[" * 100_000
JSON = (
    b"null", b"[]", b"{}", b"7",
    b'{"devices": null, "problem": null}', b'{"devices": [null], "problem": null}',
    b'{"devices": [{}], "problem": null}', b'{"devices": {"a": 1}, "problem": null}',
    b'{"devices": [{"filter": 1, "name": 2, "kind": 3, "units": "many"}], "problem": null}', NESTED,
)  # fmt: skip


class Caches:
    """Inputs of this kind: (which cached file, its content or what replaces the file)."""

    name = "caches"

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "cache"
        plan = Case(5, 6).plan()
        self._kernel = chain_kernel(plan, AncestorEncoding(plan.problem, TRAITS))
        self._uses: dict[str, Callable[[], None]] = {
            "spirv": self._use_spirv, "native": self._use_native, "devices": self._use_devices
        }  # fmt: skip
        self._kept = {which: kept for which in self._uses if (kept := self._keep(which))}

    def make(self, draw: Random) -> tuple[str, bytes | str]:
        """Return a damaged file, or something else in its place."""
        which = draw.choice(tuple(self._kept))
        if draw.randrange(20) == 0:
            return which, draw.choice(INSTEAD)
        if which == "devices" and draw.randrange(4) == 0:
            return which, damaged(draw.choice(JSON), draw, most=1)
        return which, damaged(self._kept[which][1], draw)

    def take(self, given: tuple[str, bytes | str]) -> None:
        """Use the cached file as a new process does."""
        which, content = given
        place = self._kept[which][0]
        with self._cache():
            place.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                place.write_bytes(content)
            else:
                _put(content, place)
            try:
                self._uses[which]()
            finally:
                _remove(place)

    def _keep(self, which: str) -> tuple[Path, bytes] | None:
        """Return the path and content of the file that a use caches; None without the SYCL stack."""
        shutil.rmtree(self._folder, ignore_errors=True)
        with self._cache():
            self._uses[which]()
        places = [path for path in self._folder.rglob("*") if path.is_file()]
        return (places[0], places[0].read_bytes()) if places else None

    @contextmanager
    def _cache(self) -> Iterator[None]:
        with mock.patch.dict(os.environ, SYCLADE_CACHE=str(self._folder)):
            cache_folder.cache_clear()
            try:
                yield
            finally:
                cache_folder.cache_clear()

    def _use_spirv(self) -> None:
        with mock.patch.object(program, "translate", return_value=SPIRV):
            assert program.spirv_of(None, self._kernel) == SPIRV

    def _use_native(self) -> None:
        linked: list[tuple[str, bytes]] = []

        def link(name: str, code: bytes, _: int) -> Callable[..., None]:
            linked.append((name, code))
            return lambda *_: None

        with (
            mock.patch.object(machine_code, "_loaded", {}),
            mock.patch.object(machine_code, "_link", link),
            mock.patch.object(machine_code, "_compile", return_value=CODE),
        ):
            machine_code.load_machine_code(self._kernel)
        assert linked == [CODE]

    def _use_devices(self) -> None:
        with mock.patch.object(subprocess, "run", lambda command, **_: PROBED(command)):
            for device in list_devices():
                assert isinstance(device.units, int)
                for text in (device.filter, device.name, device.kind, device.driver, device.reason or ""):
                    assert isinstance(text, str)


def _put(what: str, place: Path) -> None:
    _remove(place)
    if what == "a folder":
        place.mkdir()
    elif what == "a link to nowhere":
        place.symlink_to(place.parent / "nowhere")
    elif what == "a link to itself":
        place.symlink_to(place)


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        place.rmdir()
    else:
        place.unlink(missing_ok=True)
