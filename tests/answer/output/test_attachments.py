from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.data.model.assignment import Assignment
from syclade.host.data.trees.tree import node_labels
from syclade.host.findings.kinds.mutation_trees import format_attachments
from tests.support.tree_strategies import names


def test_the_file_of_attachments() -> None:
    cells = Assignment(
        np.array([1, 2, 0], np.int32), np.array([1, 3, 1], np.int32), np.array([-0.5, -1.25, 0.0])
    )
    assert format_attachments(cells, ("a b", 'the "c"'), ("x", "y z", "s2")) == (
        "cell\tcolumn\tnode\tnode_number\tties\tlog_likelihood\n"
        'x\t1\t"the ""c"""\t1\t1\t-0.5\n'
        "y z\t2\troot\t2\t3\t-1.25\n"
        "s2\t3\ta b\t0\t1\t0.0\n"
    )


@given(st.data(), st.integers(1, 6))
def test_any_name_is_read_back(data: st.DataObject, n: int) -> None:
    mutations = data.draw(names(n))
    nodes = np.arange(n + 1, dtype=np.int32)
    scores = -np.arange(n + 1) / 3
    cells = data.draw(names(n + 1))
    text = format_attachments(Assignment(nodes, nodes + 1, scores), mutations, cells)
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    assert [row["node"] for row in rows] == node_labels(mutations)
    assert [row["cell"] for row in rows] == list(cells)
    assert [int(row["node_number"]) for row in rows] == nodes.tolist()
    assert [float(row["log_likelihood"]) for row in rows] == scores.tolist()
