"""Settings of the study: sizes, noise, and what the inference is given of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from syclade.host.data.model.rates import Rates
from syclade.host.ground.options.types import AUTO_DROPOUT, SHARED_DROPOUT

__all__ = [
    "CONTROLS", "CONTROL_OF", "MOST_ERROR", "SETTINGS", "SHARED", "WITH_DOUBLETS", "WITH_OWN_RATES",
    "WITH_READS", "Setting", "Shares",
]  # fmt: skip

Shares = Literal["equal", "one", "zipf", "empty", "growth"] | float
"""Shares of the cells at the nodes (`inputs.shares_of`): a name, or the concentration of the Dirichlet
distribution that they are drawn from."""

MOST_ERROR: Final = 0.02
"""Largest mean error of the probabilities of ancestor pairs with which a setting with shares passes."""


@dataclass(frozen=True)
class Setting:
    """Inputs of one size and noise, and how they are inferred.

    Attributes:
        name: short name.
        mutations, cells: size of the inputs.
        fp_rate, fn_rate: error rates of the inputs; with `learn`, means of their priors.
        given: error rates of the inference, if they are others than those of the inputs.
        learn: whether the inference learns the rates.
        trees: distribution of the true trees. That of the model is `uniform`; in `recursive` trees, which are
            bushier, the parent of each mutation is a uniform draw from the earlier ones and the root.
        shares: shares of the cells at the nodes.
        missing: probability that a value is missing.
        equal_nodes: whether the inference takes all nodes to be equally probable for a cell.
        most_error: largest error of ancestor pairs with which the setting passes; None if rank tests decide
            alone.
        doublets: probability that a cell of the inputs is a doublet, which the inference is given.
        ignore_doublets: whether the inference takes all cells to be single.
        depth: mean number of reads of an entry, in place of observed values; None for values.
        given_dropout: allelic dropout of the inference, if it is not that of the reads.
        own_rates: whether mutations of the inputs have rates of false negatives of their own, by the prior of
            the chains.
        one_rate: whether the inference takes all of these to be `fn_rate`.
    """

    name: str
    mutations: int
    cells: int
    fp_rate: float = 1e-3
    fn_rate: float = 0.2
    given: tuple[float, float] | None = None
    learn: bool = False
    trees: Literal["uniform", "recursive"] = "uniform"
    shares: Shares = "equal"
    missing: float = 0.1
    equal_nodes: bool = False
    most_error: float | None = None
    doublets: float = 0.0
    ignore_doublets: bool = False
    depth: float | None = None
    given_dropout: float | None = None
    own_rates: bool = False
    one_rate: bool = False

    @property
    def fits(self) -> bool:
        """True if the model of the inference fits the inputs."""
        unknown = not self.equal_nodes or self.shares == "equal"
        known = self.given is None and self.given_dropout is None and not self.one_rate
        return known and self.trees == "uniform" and unknown and not self.ignore_doublets

    @property
    def only_for_support(self) -> bool:
        """True if only chains for support sample this: a setting with shares or doublets, or a control."""
        with_shares = self.shares != "equal" or self.equal_nodes or self.most_error is not None
        return with_shares or self.doublets > 0.0

    @property
    def inferred_with(self) -> Rates:
        """Error rates of the inference."""
        return Rates(*(self.given or (self.fp_rate, self.fn_rate)))

    @property
    def inferred_with_doublets(self) -> float | None:
        """Rate of doublets of the inference; None for a model without."""
        return None if self.ignore_doublets else self.doublets or None

    @property
    def dropout(self) -> str:
        """Option of the inference: whether mutations have rates of false negatives of their own."""
        if not self.own_rates:
            return AUTO_DROPOUT
        return SHARED_DROPOUT if self.one_rate else "per-mutation"

    @property
    def steps(self) -> int:
        """Steps of each chain."""
        return 10_000 * (self.mutations + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values."""
        return {**asdict(self), "fits": self.fits, "steps": self.steps}


_MIDDLE = Setting("20 x 40", 20, 40)

SETTINGS: Final = (
    Setting("10 x 20", 10, 20),
    _MIDDLE,
    Setting("20 x 40, noisy", 20, 40, 0.02, 0.3),
    Setting("20 x 40, clean", 20, 40, 1e-4, 0.05),
    Setting("40 x 20, few cells", 40, 20),
    Setting("20 x 200, many cells", 20, 200),
    Setting("63 x 64", 63, 64),
    Setting("63 x 64, noisy", 63, 64, 0.02, 0.3),
    Setting("20 x 40, learned", 20, 40, 0.02, 0.2, learn=True),
)
"""Settings that fit the model: their probabilities have to be calibrated."""

_SHARES: Final[dict[str, Shares]] = {
    "equal shares": "equal",
    "shares 0.3": 0.3,
    "shares 1": 1.0,
    "one clone": "one",
    "zipf": "zipf",
    "empty nodes": "empty",
    "growth": "growth",
}

SHARED: Final = tuple(
    Setting(
        f"{mutations} x {cells}, {words}", mutations, cells, shares=shares, missing=0.3, most_error=MOST_ERROR
    )
    for mutations, cells, kinds in (
        (20, 40, _SHARES),
        (63, 64, _SHARES),
        (8, 2000, _SHARES),
        (160, 160, ["shares 1"]),  # larger trees have Gibbs steps and burn-in of their own
    )
    for words, shares in ((kind, _SHARES[kind]) for kind in kinds)
)
"""Settings with clones of many kinds of sizes, for the chains for support, which sample the shares."""

WITH_DOUBLETS: Final = Setting("20 x 40, doublets", 20, 40, shares=1.0, doublets=0.3)
"""A setting with doublets and clones of unequal sizes, for the chains for support."""

WITH_READS: Final = tuple(
    Setting(
        f"40 x 100, reads of depth {depth}",
        40,
        100,
        shares=1.0,
        missing=0.0,
        most_error=MOST_ERROR,
        depth=depth,
    )
    for depth in (3, 10, 30)
)
"""Settings whose evidence is reads, with overdispersion and allelic dropout, and clones of unequal sizes."""

WITH_OWN_RATES: Final = tuple(
    Setting(
        f"{mutations} x {cells}, rates differ",
        mutations,
        cells,
        fp_rate=0.01,
        shares=0.3,
        missing=0.2,
        most_error=MOST_ERROR,
        own_rates=True,
    )
    for mutations, cells in ((5, 1000), (20, 100))
)
"""Settings in which each mutation has a rate of false negatives of its own, for chains for support."""

CONTROL_OF: Final = {
    **{one.name: replace(one, name=f"{one.name}: equal nodes", equal_nodes=True) for one in SHARED},
    **{one.name: replace(one, name=f"{one.name}: less dropout", given_dropout=0.02) for one in WITH_READS},
    **{one.name: replace(one, name=f"{one.name}: one rate", one_rate=True) for one in WITH_OWN_RATES},
    WITH_DOUBLETS.name: replace(WITH_DOUBLETS, name="20 x 40, doublets ignored", ignore_doublets=True),
}
"""Controls by the name of the setting: the same inputs, but the inference takes all nodes to be equally
probable, all cells to be single, a tenth of the allelic dropout, or one rate for all mutations."""

CONTROLS: Final = (
    replace(_MIDDLE, name="20 x 40, wrong fn", given=(1e-3, 0.05)),
    replace(_MIDDLE, name="20 x 40, wrong fp", given=(0.05, 0.2)),
    replace(_MIDDLE, name="20 x 40, wrong trees", trees="recursive"),
)
"""Settings that do not fit: the study has to notice, and shows what becomes of the probabilities."""
