"""Tails of Poisson-binomial distributions, many columns at once, on any device. It knows no trees."""

from syclade.host.calls.tails.columns import Columns, columns_of
from syclade.host.calls.tails.run import Tails, log_tails

__all__ = ["Columns", "Tails", "columns_of", "log_tails"]
