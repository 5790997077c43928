"""Damaged files of every format: text formats, and formats read by a library."""

from __future__ import annotations

import faulthandler
import os
import pickle
import select
import signal
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np

from syclade.host.data.input import read_matrix as door
from syclade.host.data.input.formats import FORMATS, ReadOptions
from syclade.host.data.input.formats.hdf import hdf5_format
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.ground.errors import MatrixError, SycladeError
from tests.fuzz.damage import damaged
from tests.support.formats import SAID, write_forms, write_pair

__all__ = ["Libraries", "Pairs", "Tables"]

HANGS = 1.0
"""Seconds without an answer, after which a reader counts as hanging."""

_FOLDERS = ("cellsnp", "mquad", "folder")

_OPTIONS: dict[str, tuple[Any, ...]] = {
    "two": ("homozygous", "missing"),
    "rows": ("cells", "mutations"),
    "min_depth": (0, 1, 10),
    "min_gq": (30,),
    "min_vaf": (0, 10.0),
    "columns": ("cell=cell,mutation=1,alt=3,total=4", "cell=2,mutation=1+2,alt=ad,ref=dp", "x"),
    "name_by": ("site", "id"),
    "total_layer": ("DP", "AD"),
    "vaf_ref": (5.0,),
    "vaf_hom": (95,),
    "layer": ("genotype",),
    "coding": ("scite", "cyvcf2"),
    "evidence": ("likelihoods", "reads"),
}


_WITH_EVIDENCE = "evidence.vcf"
_RECORDS = (
    "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
    "1\t1\t.\tA\tC\t.\t.\t.\tGT:AD:DP:PL\t0/0:9,1:10:0,30,200\t0/1:5,3:8:50,0,60\n"
    "1\t2\t.\tA\tC,<*>\t.\t.\t.\tGT:AD:GL\t0/1:3,2,0:-2,0,-4,-5,-7,-9.5\t./.:.:.\n"
    "1\t3\t.\tA\tC\t.\tPASS\t.\tAD:DP:GP\t4:9:0.9,0.08,0.02\t0:7:0,1,0\n"
)
"""Records with reads and with likelihoods of each field."""


class _Forms:
    """Inputs of this kind: (file name, damaged content, options), where some options do not suit the file."""

    whole = False

    def __init__(self, folder: Path) -> None:
        made = folder / "made"
        made.mkdir(exist_ok=True)
        paths = write_forms(made)
        if self.whole:
            wanted = (name for name in SAID if name.endswith((".h5", ".h5ad", ".loom", ".bcf")))
            self._files = {name: paths[name].read_bytes() for name in wanted}
            for folder_name in _FOLDERS:
                parts = paths[folder_name].iterdir()
                self._files |= {f"{folder_name}/{one.name}": one.read_bytes() for one in parts}
        else:
            wanted = (
                name for name in SAID if name.endswith((".csv", ".SC", ".tsv", ".B", ".txt", ".vcf", ".gz"))
            )
            self._files = {name: paths[name].read_bytes() for name in wanted}
            self._files[_WITH_EVIDENCE] = _RECORDS.encode()
        self._made, self._folder = made, folder

    def make(self, draw: Random) -> tuple[str, bytes, dict[str, Any]]:
        """Return the name of a file, its bytes, and the options to read it with."""
        name = draw.choice(list(self._files))
        said = dict(SAID.get(name.split("/")[0], {"evidence": draw.choice(_OPTIONS["evidence"])}))
        if draw.random() < 0.3:
            for option in draw.sample(list(_OPTIONS), draw.randint(1, 2)):
                said[option] = draw.choice(_OPTIONS[option])
        if draw.random() < 0.1:
            said["format"] = draw.choice(list(FORMATS))
        return name, damaged(self._files[name], draw, most=3), said

    def take(self, given: tuple[str, bytes, dict[str, Any]]) -> None:
        """Read the file."""
        name, data, said = given
        path = self._folder / name
        is_part = name.startswith(_FOLDERS)
        if is_part:
            path.parent.mkdir(exist_ok=True)
            for other in self._files:
                if other.startswith(f"{path.parent.name}/"):
                    (self._folder / other).write_bytes(self._files[other])
        path.write_bytes(data)
        matrix = read_matrix(path.parent if is_part else path, **said)
        assert set(np.unique(matrix.values).tolist()) <= {0, 1, 2, 3}
        assert matrix.values.size > 0


class Tables(_Forms):
    """Text formats."""

    name = "tables"


class Pairs:
    """Tables of alternate reads and of all reads, one of them damaged."""

    name = "pairs"

    def __init__(self, folder: Path) -> None:
        paths = write_pair(folder)
        self._files = {name: (path, path.read_bytes()) for name, path in paths.items()}

    def make(self, draw: Random) -> tuple[str, bytes, dict[str, Any]]:
        """Return the damaged table, its bytes, and the options to read the pair with."""
        name = draw.choice(list(self._files))
        said: dict[str, Any] = {
            "rows": draw.choice(("cells", "cells", "mutations")),
            "min_depth": draw.choice((1, 5)),
        }
        said |= {"min_vaf": 5.0} if draw.random() < 0.2 else {}
        return name, damaged(self._files[name][1], draw, most=3), said

    def take(self, given: tuple[str, bytes, dict[str, Any]]) -> None:
        """Read the pair."""
        damaged_one, data, said = given
        for name, (path, whole) in self._files.items():
            path.write_bytes(data if name == damaged_one else whole)
        (alternate, _), (total, _) = self._files.values()
        matrix = read_matrix(alternate, total_reads=total, **said)
        assert set(np.unique(matrix.values).tolist()) <= {0, 1, 2, 3}


class Libraries(_Forms):
    """HDF5, BCF, and a folder of Matrix Market files; each is read in a forked process, to start fast."""

    name = "libraries"
    whole = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name, said in SAID.items():  # load the libraries before the first fork
            if name in self._files:
                form = said.get("format") or (
                    "bcf" if name.endswith(".bcf") else hdf5_format(self._made / name)
                )
                coding = {option: value for option, value in said.items() if option != "format"}
                FORMATS[form].read(self._made / name, ReadOptions(**coding))

    def take(self, given: tuple[str, bytes, dict[str, Any]]) -> None:
        """Read the file; a library that crashes or hangs must result in a SycladeError, too."""
        with mock.patch.object(door, "read_in_subprocess", forked):
            super().take(given)


def forked(reader: Any, path: Path, *rest: Any) -> Any:
    """Replace `read_in_subprocess` by a fork, which is fast enough for tens of thousands of files."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        faulthandler.disable()  # pytest's handler writes elsewhere
        try:
            try:
                result = reader(path, *rest)
            except SycladeError as problem:
                result = problem
            with os.fdopen(theirs, "wb") as stream:
                pickle.dump(result, stream)
            os._exit(0)
        except BaseException as problem:
            with os.fdopen(theirs, "wb") as stream:
                pickle.dump(("not foreseen", repr(problem)), stream)
        os._exit(1)
    os.close(theirs)
    report = b""
    with os.fdopen(ours, "rb") as stream:
        while select.select([stream], [], [], HANGS)[0] and (piece := os.read(stream.fileno(), 2**16)):
            report += piece
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not report:
        raise MatrixError("the library that reads it crashed, or did not end", path=str(path))
    result = pickle.loads(report)
    assert not (isinstance(result, tuple) and result[:1] == ("not foreseen",)), result
    if isinstance(result, SycladeError):
        raise result
    return result
