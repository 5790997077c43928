"""Maximum score of trees with a recurrent mutation, on the encoding `parities`."""

from syclade.kernels.chain.parts import Score
from syclade.kernels.parities.maxima import MAXIMA
from syclade.kernels.parities.parts import RECURRENT

SCORE = Score(arguments=(RECURRENT,), of_cell=MAXIMA, wide=True)
"""Its `of_cell` are the rows of the encoding."""
