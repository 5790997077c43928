"""One matrix in every format, as small files with known content."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CELLS", "MUTATIONS", "SAID", "VALUES", "Named", "reads_of", "write_forms", "write_pair"]

VALUES: NDArray[np.uint8] = np.array(
    [[1, 1, 0, 0, 1, 1], [1, 0, 0, 3, 1, 0], [0, 1, 1, 0, 0, 3], [3, 0, 1, 0, 0, 0]], np.uint8
)
"""Observed values, shape (mutations, cells); without a 2, which some formats cannot express."""

MUTATIONS = tuple(f"{chrom}:{place}:A/G" for chrom, place in ((1, 10), (1, 25), (2, 7), (3, 99)))
CELLS = tuple(f"cell-{number}" for number in range(6))

SAID: dict[str, dict[str, Any]] = {
    "matrix.csv": {},
    "matrix.SC": {},
    "table.tsv": {"format": "tsv", "rows": "mutations"},
    "table.csv": {"format": "csv", "rows": "cells"},
    "r.tsv": {"rows": "cells"},
    "excel.csv": {"rows": "mutations"},
    "condor.csv": {},
    "sifit.txt": {"format": "sifit"},
    "sphyr.B": {},
    "sasc.txt": {"format": "sasc"},
    "calls.vcf": {},
    "calls.vcf.gz": {},
    "calls.bcf": {},
    "compass.csv": {},
    "scistree.txt": {},
    "data.h5ad": {},
    "sparse.h5ad": {},
    "tapestri.h5": {},
    "tapestri.loom": {},
    "cellsnp": {"min_depth": 1},
    "mquad": {"min_depth": 1},
    "folder": {},
    "long.tsv": {"min_depth": 1},
    "reads.h5ad": {"layer": "AD", "total_layer": "DP", "min_depth": 1},
}
"""Options needed to read each file."""


@dataclass(frozen=True)
class Named:
    """A matrix with names: values of shape (mutations, cells)."""

    values: NDArray[np.uint8]
    mutations: tuple[str, ...]
    cells: tuple[str, ...]


SMALL = Named(VALUES, MUTATIONS, CELLS)


def write_forms(folder: Path, matrix: Named = SMALL) -> dict[str, Path]:
    """Write a matrix in all formats; return the paths by the names of `SAID`."""
    values, mutations, names = matrix.values, matrix.mutations, matrix.cells
    cells = values.T
    _rows(folder / "matrix.csv", values, " ")
    _table(folder / "matrix.SC", "cellIDxmutID", mutations, names, cells, "\t")
    _table(folder / "table.tsv", "mutation", names, mutations, values, "\t", "NA")
    _table(folder / "table.csv", "", mutations, names, cells, ",", "")
    _table(folder / "r.tsv", None, mutations, names, cells, "\t", "NA", '"')
    decimals = [[f"{value},0" for value in row] for row in values.tolist()]
    _table(folder / "excel.csv", "mutation", names, mutations, decimals, ";")
    clusters = [[*row, 0] for row in cells.tolist()]
    _table(folder / "condor.csv", "", (*mutations, "cluster_id"), names, clusters, ",", "-1")
    coded = np.where(cells == 3, -1, cells.astype(np.int8))
    lines = "\n".join(" ".join(map(str, row)) for row in coded.tolist())
    (folder / "sphyr.B").write_text(f"{len(names)} #cells\n{len(mutations)} #SNVs\n{lines}\n")
    _rows(folder / "sifit.txt", np.column_stack((range(len(mutations)), values)), " ")
    _rows(folder / "sasc.txt", np.where(cells == 3, 2, cells), " ")
    _variants(folder, matrix)
    _hdf5(folder, matrix)
    _cellsnp(folder / "cellsnp", matrix)
    _mquad(folder / "mquad", matrix)
    _folder(folder / "folder", matrix)
    alternate, depth = reads_of(values)
    rows = zip(
        np.repeat(mutations, len(names)).tolist(), names * len(mutations),
        alternate.ravel().tolist(), depth.ravel().tolist(), strict=True,
    )  # fmt: skip
    entries = ["variant\tcell\tad\tdp", *("\t".join(map(str, row)) for row in rows)]
    (folder / "long.tsv").write_text("\n".join(entries) + "\n")
    return {name: folder / name for name in SAID}


def reads_of(values: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers of alternate reads and of all reads that show the values, which have no 2."""
    return np.where(values == 1, 4, 0), np.where(values == 3, 0, 8)


def write_pair(folder: Path, matrix: Named = SMALL) -> dict[str, Path]:
    """Write tables of alternate reads and of all reads, whose rows are cells; the second in another order."""
    alternate, depth = reads_of(matrix.values)
    paths = {"alternate": folder / "alternate.csv", "total": folder / "total.tsv"}
    _table(paths["alternate"], "cell", matrix.mutations, matrix.cells, alternate.T.astype(str), ",")
    _table(
        paths["total"],
        None,
        matrix.mutations[::-1],
        matrix.cells[::-1],
        depth.T[::-1, ::-1].astype(str),
        "\t",
        quote='"',
    )
    return paths


def _rows(path: Path, values: NDArray[Any], separator: str) -> None:
    path.write_text("".join(separator.join(map(str, row)) + "\n" for row in values.tolist()))


def _table(
    path: Path,
    corner: str | None,
    columns: tuple[str, ...],
    rows: tuple[str, ...],
    values: Any,
    separator: str,
    missing: str = "3",
    quote: str = "",
) -> None:
    header = [f"{quote}{name}{quote}" for name in columns]
    lines = [separator.join(header if corner is None else (corner, *header))]
    entries = np.asarray(values)
    if entries.dtype.kind != "U":
        entries = np.array(("0", "1", "2", missing))[entries]
    for name, row in zip(rows, entries.tolist(), strict=True):
        lines.append(separator.join((f"{quote}{name}{quote}", *row)))
    path.write_text("\n".join(lines) + "\n")


def _variants(folder: Path, matrix: Named) -> None:
    genotypes = ("0/0:9", "0/1:9", "1/1:9", "./.:0")
    head = ["##fileformat=VCFv4.2", '##FORMAT=<ID=GT,Number=1,Type=String,Description="g">']
    head += ['##FORMAT=<ID=DP,Number=1,Type=Integer,Description="d">']
    head += [f"##contig=<ID={chrom}>" for chrom in (1, 2, 3)]
    head += [
        "\t".join(("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *matrix.cells))
    ]
    compass = ["NAME," + ",".join(matrix.cells)]
    reads = ("9:0:0", "5:4:1", "0:9:2", "0:0:3")
    wild = ("0.99", "0.01", "0.01", "0.50")
    scistree = [f"HAPLOID {len(matrix.mutations)} {len(matrix.cells)} {' '.join(matrix.cells)}"]
    for name, row in zip(matrix.mutations, matrix.values.tolist(), strict=True):
        chrom, place, change = name.split(":")
        fields = (chrom, place, ".", *change.split("/"), ".", ".", ".", "GT:DP")
        head.append("\t".join((*fields, *(genotypes[value] for value in row))))
        compass.append(",".join((name, *(reads[value] for value in row))))
        scistree.append(" ".join((name, *(wild[value] for value in row))))
    text = "\n".join(head) + "\n"
    (folder / "calls.vcf").write_text(text)
    (folder / "calls.vcf.gz").write_bytes(gzip.compress(text.encode(), 1, mtime=0))
    (folder / "compass.csv").write_text("\n".join(compass) + "\n")
    (folder / "scistree.txt").write_text("\n".join(scistree) + "\n")
    import cyvcf2

    reader = cyvcf2.VCF(str(folder / "calls.vcf"))
    writer = cyvcf2.Writer(str(folder / "calls.bcf"), reader, mode="wb")
    for record in reader:
        writer.write_record(record)
    writer.close()


def _hdf5(folder: Path, matrix: Named) -> None:
    import anndata
    import h5py
    import pandas
    import scipy.sparse

    obs, var = pandas.DataFrame(index=list(matrix.cells)), pandas.DataFrame(index=list(matrix.mutations))
    cells = matrix.values.T.astype(np.int8)
    anndata.AnnData(cells, obs, var).write_h5ad(folder / "data.h5ad")
    anndata.AnnData(scipy.sparse.csr_matrix(cells), obs, var).write_h5ad(folder / "sparse.h5ad")
    reads = dict(zip(("AD", "DP"), (table.T for table in reads_of(matrix.values)), strict=True))
    anndata.AnnData(None, obs, var, layers=reads).write_h5ad(folder / "reads.h5ad")
    names, barcodes = (np.array(names, "S") for names in (matrix.mutations, matrix.cells))
    with h5py.File(folder / "tapestri.h5", "w") as file:
        assay = file.create_group("assays/dna_variants")
        layers = {"NGT": cells, "DP": np.where(cells == 3, 0, 20), "GQ": np.where(cells == 3, 0, 99)}
        layers["AF"] = np.array((0.0, 50.0, 100.0, 0.0))[cells]
        for name, table in layers.items():
            assay.create_dataset(f"layers/{name}", data=table, compression="gzip")
        assay["ca/id"], assay["ra/barcode"], assay["ra/sample_name"] = names, barcodes, barcodes
    with h5py.File(folder / "tapestri.loom", "w") as file:
        file["matrix"], file["row_attrs/id"], file["col_attrs/barcode"] = matrix.values, names, barcodes
        file["layers/DP"] = np.where(matrix.values == 3, 0, 20)


def _cellsnp(folder: Path, matrix: Named) -> None:
    import scipy.io
    import scipy.sparse

    folder.mkdir(exist_ok=True)
    (folder / "cellSNP.samples.tsv").write_text("\n".join(matrix.cells) + "\n")
    lines = ["#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    for name in matrix.mutations:
        chrom, place, change = name.split(":")
        lines.append("\t".join((chrom, place, ".", *change.split("/"), ".", "PASS", ".")))
    (folder / "cellSNP.base.vcf.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    for tag, counts in zip(("AD", "DP"), reads_of(matrix.values), strict=True):
        scipy.io.mmwrite(folder / f"cellSNP.tag.{tag}.mtx", scipy.sparse.coo_matrix(counts))


def _mquad(folder: Path, matrix: Named) -> None:
    import scipy.io
    import scipy.sparse

    folder.mkdir(exist_ok=True)
    (folder / "cellSNP.samples.tsv").write_text("\n".join(matrix.cells) + "\n")
    (folder / "passed_variant_names.txt").write_text("\n".join(matrix.mutations))
    for tag, counts in zip(("ad", "dp"), reads_of(matrix.values), strict=True):
        with gzip.open(folder / f"passed_{tag}.mtx.gz", "wb", compresslevel=1) as file:
            scipy.io.mmwrite(file, scipy.sparse.coo_matrix(counts))


def _folder(folder: Path, matrix: Named) -> None:
    folder.mkdir(exist_ok=True)
    _rows(folder / "matrix.csv", matrix.values, " ")
    (folder / "matrix.geneNames").write_text("\n".join(matrix.mutations) + "\n")
    (folder / "matrix.cellNames").write_text("\n".join(matrix.cells) + "\n")
    for name, counts in zip(("alternate", "total"), reads_of(matrix.values), strict=True):
        _table(folder / f"{name}.tsv", "mutation", matrix.cells, matrix.mutations, counts.astype(str), "\t")
