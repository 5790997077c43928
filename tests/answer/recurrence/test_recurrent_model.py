"""The model of a recurrent mutation in float64: brute force, ∞SCITE's figures, and the chain's score."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.commands.scite.dialect import best_nodes
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.copy_scores import (
    attach_with_copy,
    call_doublets_with_copy,
    log_likelihood_with_copy,
    mixture_log_likelihood,
    mixture_with_copy,
    posteriors_with_copy,
    summed_log_likelihood_with_copy,
)
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.recurrence import (
    LOSS,
    PARALLEL,
    Recurrence,
    check_copies,
    genotypes_of,
    is_allowed,
    kind_of,
    recurrent_mutation,
    with_copy,
)
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.data.trees.treefile import read_tree
from syclade.host.ground.errors import OptionError, TreeError
from syclade.quality.oracle.trees import all_trees
from tests.answer.recurrence.cases import (
    RATE,
    has_by_walking,
    matrix_with_copy,
    mutation_of,
    pair_scores,
    plan_of,
)
from tests.chains.doublets.cases import rates_of
from tests.support.backends import Case

CASES = {
    "small": Case(4, 9),
    "missing": Case(7, 12, kind="missing"),
    "zygosity": Case(6, 20, kind="zygosity"),
    "two mutations": Case(2, 5),
    "nothing observed": Case(3, 4, kind="nothing"),
}
TREES = 5
on_every_case = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def tree_of(case: Case, chain: int) -> NDArray[np.int32]:
    return initial_state(plan_of(case), case.seed, chain).parents


def log_mean(scores: NDArray[np.float64], which: NDArray[np.bool_], count: int) -> float:
    """Return the logarithm of a sum of likelihoods over a count."""
    return math.log(math.fsum(np.exp(scores[which]).tolist()) / count) if which.any() else -math.inf


@on_every_case
def test_attachments_are_those_of_brute_force(case: Case) -> None:
    matrix, rates, mutation = matrix_with_copy(case), rates_of(case), mutation_of(case)
    kinds = set()
    for chain in range(TREES):
        parents = tree_of(case, chain)
        kinds.add(kind_of(parents, mutation, matrix.mutations).kind)
        singles = np.diagonal(pair_scores(case, parents), axis1=1, axis2=2)
        attached = attach_with_copy(matrix, rates, make_problem(matrix, rates), parents, mutation)
        best = singles.max(axis=1)
        assert attached.log_likelihood == pytest.approx(best, rel=1e-12)
        assert singles[np.arange(case.m), attached.node] == pytest.approx(best, rel=1e-12)
        assert (attached.ties == np.isclose(singles, best[:, None], rtol=1e-9, atol=1e-9).sum(axis=1)).all()
        found = log_likelihood_with_copy(matrix, rates, parents, mutation)
        assert found == pytest.approx(best.sum(), rel=1e-12)
        has = has_by_walking(parents, mutation)
        assert (genotypes_of(parents, mutation)[:-1] == has).all()
    assert kinds <= {PARALLEL, LOSS}


def test_equal_log_likelihoods_have_no_gain() -> None:
    """Sums in another order differ by rounding errors: the gain is 0, not negative."""
    one = Recurrence("A", PARALLEL, 0, 1).compared(-10.1 - 7.1e-15, -10.1)
    assert str(one.gain) == "0.0"
    assert Recurrence("A", PARALLEL, 0, 1).compared(-3.25, -10.5).gain == 7.25


@on_every_case
def test_best_nodes_in_files_are_those_of_brute_force(case: Case) -> None:
    """As in SCITE's files, the root is left out where another node is as good."""
    problem = make_problem(matrix_with_copy(case), rates_of(case))
    mutation, root, differ = mutation_of(case), case.n + 1, 0
    for chain in range(TREES):
        parents = tree_of(case, chain)
        singles = np.diagonal(pair_scores(case, parents), axis1=1, axis2=2).T
        best = np.isclose(singles, singles.max(axis=0), rtol=1e-9, atol=1e-9)
        best[root] &= ~best[:root].any(axis=0)
        np.testing.assert_array_equal(best_nodes(problem, parents, mutation), best)
        differ += not np.array_equal(best_nodes(problem, parents), best)
    assert differ or case.kind == "nothing", "without the copy they are others"


@on_every_case
def test_sums_and_posteriors_are_those_of_brute_force(case: Case) -> None:
    matrix, rates, mutation = matrix_with_copy(case), rates_of(case), mutation_of(case)
    plan = plan_of(case, name="sum")
    for chain in range(TREES):
        parents = tree_of(case, chain)
        singles = np.diagonal(pair_scores(case, parents), axis1=1, axis2=2)
        sums = np.logaddexp.reduce(singles, axis=1)
        found = summed_log_likelihood_with_copy(matrix, rates, parents, mutation)
        assert found == pytest.approx(sums.sum(), rel=1e-12)
        nodes = np.full(case.m, chain % (case.n + 2), dtype=np.int32)
        shares = posteriors_with_copy(matrix, rates, parents, mutation, nodes)
        assert shares == pytest.approx(np.exp(singles[:, nodes[0]] - sums), rel=1e-12)
        score = plan.problem.to_nats(plan.score_of(parents))
        assert score == pytest.approx(found, abs=case.m * 1e-5 * (2 + case.n))


@on_every_case
def test_mixtures_and_pairs_are_those_of_brute_force(case: Case) -> None:
    matrix, rates, mutation = matrix_with_copy(case), rates_of(case), mutation_of(case)
    for chain in range(TREES):
        parents = tree_of(case, chain)
        above, nodes = ancestor_matrix(parents).astype(bool), case.n + 2
        apart = ~(above | above.T)
        mixture = mixture_with_copy(matrix, rates, parents, mutation)
        calls = call_doublets_with_copy(matrix, rates, parents, mutation, RATE)
        for cell, scores in enumerate(pair_scores(case, parents)):
            expected = (
                log_mean(scores, np.eye(nodes, dtype=bool), nodes),
                log_mean(scores, np.ones_like(apart), nodes**2),
                log_mean(scores, apart, nodes**2),
            )
            found = (mixture.single[cell], mixture.pair[cell], mixture.relevant[cell])
            assert found == pytest.approx(expected, rel=1e-12)
            best = scores[calls.first[cell], calls.second[cell]]
            assert best == pytest.approx(scores.max(), rel=1e-12)
        assert (calls.first <= calls.second).all()


@on_every_case
@pytest.mark.parametrize("rate", [None, 1e-6, 0.2, 0.999])
def test_the_chains_score_is_nearly_the_log_likelihood(case: Case, rate: float | None) -> None:
    plan, matrix, rates, mutation = (
        plan_of(case, rate),
        matrix_with_copy(case),
        rates_of(case),
        mutation_of(case),
    )
    for chain in range(3):
        state = initial_state(plan, case.seed, chain)
        if rate is None:
            exact = log_likelihood_with_copy(matrix, rates, state.parents, mutation)
        else:
            exact = mixture_log_likelihood(matrix, rates, state.parents, mutation, rate)
        # A logarithm is rounded to 2^-16 octave; a weight, of which two paths have n each, to half of it.
        assert plan.problem.to_nats(state.score) == pytest.approx(exact, abs=case.m * 1e-5 * (2 + case.n))


def test_most_trees_differ_from_those_without_a_recurrence() -> None:
    """A tree's score differs from that of the tree without the copy, for losses and for recurrences."""
    case = CASES["small"]
    mutation = mutation_of(case)
    matrix, rates = matrix_with_copy(case), rates_of(case)
    table, values = rates.log_table(), case.values
    seen = set()
    for tree in all_trees(case.n + 1):
        parents = np.array(tree, dtype=np.int32)
        if not is_allowed(parents, mutation):
            continue
        has, above = has_by_walking(parents, mutation), ancestor_matrix(parents)[:-2]
        if log_likelihood_with_copy(matrix, rates, parents, mutation) != pytest.approx(
            sum(
                max(
                    sum(table[values[g, c], int(above[g, v])] for g in range(case.n))
                    for v in range(has.shape[1])
                )
                for c in range(case.m)
            ),
            abs=1e-9,
        ):
            seen.add(kind_of(parents, mutation, matrix.mutations).kind)
        if len(seen) == 2:
            return
    pytest.fail(f"only {seen} change scores")


def test_copies_are_neither_siblings_nor_parent_and_child() -> None:
    """Of all trees of three mutations and a copy, exactly those are refused."""
    names = ("a", "b", "c", "a_copy")
    refused = 0
    for tree in all_trees(4):
        parents = np.array(tree, dtype=np.int32)
        wrong = tree[0] == tree[3] or tree[0] == 3 or tree[3] == 0
        assert is_allowed(parents, 0) is not wrong
        if wrong:
            refused += 1
            words = "siblings" if tree[0] == tree[3] else "parent and child"
            with pytest.raises(TreeError, match=f"a and a_copy are {words}"):
                check_copies(parents, 0, names)
    assert 0 < refused < 125


@pytest.mark.parametrize(
    ("wanted", "number"),
    [("b", 1), ("2", 1), ("c", 2), (1, 0), (3, 2), (np.int64(2), 1), ("01", 0)],
    ids=repr,
)
def test_a_mutation_has_a_name_or_a_number(wanted: str | int, number: int) -> None:
    assert recurrent_mutation(wanted, ("a", "b", "c")) == number


@pytest.mark.parametrize("wanted", ["d", "0", "4", 0, 4, -1, True, "", "²"], ids=repr)
def test_other_names_and_numbers_are_refused(wanted: str | int) -> None:
    with pytest.raises(OptionError, match="which is not a mutation of the matrix"):
        recurrent_mutation(wanted, ("a", "b", "c"))


def test_one_mutation_cannot_recur() -> None:
    with pytest.raises(OptionError, match="--recurrent with 1 mutation"):
        recurrent_mutation(1, ("a",))


def test_a_copy_has_a_name_of_its_own() -> None:
    matrix = with_copy(matrix_with_copy(CASES["small"]), 1)
    assert matrix.mutations == ("1", "2", "3", "4", "2_copy", "2_copy_")
    assert matrix.values.shape == (6, 9)
    assert (matrix.values[4:] == 3).all()


@pytest.mark.shared
def test_trees_of_infscite_have_its_own_log_likelihood(shared_dir: Path) -> None:
    """Score ∞SCITE's best trees of pat_2, one of a parallel recurrence and one of a loss with doublets."""
    matrix = with_copy(read_matrix(shared_dir / "data" / "pat_2.csv", None), 12)
    folder = shared_dir / "reference" / "infscite-cli"
    parents = read_tree(folder / "recurrent-ml" / "out_ml0.newick", matrix.mutations)
    assert kind_of(parents, 12, matrix.mutations).kind == PARALLEL
    found = log_likelihood_with_copy(matrix, Rates(3.45e-3, 0.146), parents, 12)
    assert found == pytest.approx(-485.93289701219709, abs=1e-6)
    parents = read_tree(folder / "recurrent-doublet" / "out_map0.newick", matrix.mutations)
    assert kind_of(parents, 12, matrix.mutations).kind == LOSS
    rates, doublets = Rates(3.45e-3, 0.14931026637705055), 0.53167950618219151
    found = mixture_log_likelihood(matrix, rates, parents, 12, doublets)
    assert found == pytest.approx(-723.60443673386783, abs=1e-6)
