"""Options of learned rates."""

from __future__ import annotations

from typing import NamedTuple

from syclade.host.data.model.rate_model import (
    UNIFORM_DEVIATION,
    UNIFORM_LEARN,
    UNIFORM_MEAN,
    RateModel,
    make_rate_model,
)
from syclade.host.data.model.rates import Rates
from syclade.host.ground.options import Options

__all__ = ["Learning"]


class Learning(NamedTuple):
    """Options of learned rates, as for `infer`."""

    learn_fn: float | None = None
    fn_sd: float | None = None
    fn_step: float | None = None
    learn_fp: float | None = None
    fp_sd: float | None = None
    fp_step: float | None = None
    learn_doublets: float | None = None
    doublets_sd: float | None = None
    doublets_step: float | None = None
    unmutated_counts: tuple[int, int] | None = None

    @classmethod
    def of_options(cls, options: Options) -> Learning:
        """Return those of all options."""
        return cls(*(getattr(options, name) for name in cls._fields))

    def with_rate(self, doublets: float | str | None) -> tuple[float | None, Learning]:
        """Return the rate of doublets, and the options that learn it: a uniform prior if it is `learn`."""
        if not isinstance(doublets, str):
            return doublets, self
        probability = UNIFORM_LEARN if self.learn_doublets is None else self.learn_doublets
        width = UNIFORM_DEVIATION if self.doublets_sd is None else self.doublets_sd
        return UNIFORM_MEAN, self._replace(learn_doublets=probability, doublets_sd=width)

    def of(self, rates: Rates, doublets: float | None = None) -> RateModel:
        """Return the rates of the chains, checked.

        Raises:
            OptionError: the numbers are invalid.
        """
        return make_rate_model(
            rates,
            learn_fn=self.learn_fn,
            fn_deviation=self.fn_sd,
            fn_step=self.fn_step,
            learn_fp=self.learn_fp,
            fp_deviation=self.fp_sd,
            fp_step=self.fp_step,
            doublets=doublets,
            learn_doublets=self.learn_doublets,
            doublets_deviation=self.doublets_sd,
            doublets_step=self.doublets_step,
            unmutated=self.unmutated_counts,
        )
