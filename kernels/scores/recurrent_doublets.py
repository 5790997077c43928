"""Score with doublets of trees with a recurrent mutation, on the encoding `parities`."""

from syclade.kernels.chain.parts import Score
from syclade.kernels.parities.parts import RECURRENT
from syclade.kernels.parities.sums import sums_for
from syclade.kernels.scores.doublets import ARGUMENTS, of_sums

SCORE = Score(arguments=(*ARGUMENTS, RECURRENT), of_cell=sums_for(of_sums), wide=True)
"""Its `of_cell` are the rows of the encoding."""
