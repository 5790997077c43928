"""Search policy: the number of searches, their starts and phases, and the stopping rule.

A phase is a start or a warm-up, then a climb: a generator that yields work and is sent the score of the tree
after it. The policy compares all searches after each phase.

The policy depends only on the sizes of the problem and on the scores after each phase, so one seed gives one
result on every device. Its constants were tuned on simulated and real matrices (docs/search.md).

Some searches start from the best trees of short chains, which estimate where the probability mass is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.chains.search.kernel import NO_SCORE, SearchState, Work, state_from
from syclade.host.chains.search.problem import sample_size
from syclade.host.ground.signals import Stopped

if TYPE_CHECKING:
    from syclade.host.chains.search.runner import SearchRunner

__all__ = [
    "CHAIN_STEPS",
    "CLIMB",
    "CLIMB_STAGES",
    "Phase",
    "PhaseStopped",
    "SearchPolicy",
    "Works",
    "expected_gain",
    "policy_for",
    "run_phase",
    "sweeps_apart",
    "works_of",
]


MOST = 30
"""Limit on the sweeps of a move and on the turns of a loop in a climb; hardly ever reached."""

Works = Generator[Work, int, int]


class Phase(NamedTuple):
    """One phase of a search.

    Attributes:
        start: stage that makes a tree from nothing; empty to continue from the current tree.
        sweeps: number of sweeps of the warm-up, each with three kinds of move; 0 for no warm-up.
        hottest: exponent of the likelihood (`Work.gamma`) in the first sweep of the warm-up. From there
            it rises geometrically.
        coldest: exponent in the last sweep. The higher it is, the greedier the sweep.
        from_best: whether the phase begins with the search's best tree.
    """

    start: str = ""
    sweeps: int = 0
    hottest: float = 1.0
    coldest: float = 4.0
    from_best: bool = False


CLIMB = Phase()

CLIMB_STAGES = ("estimated", "subtrees", "regraft", "exact")
"""All stages of warm-ups and climbs, in the order of their first use."""


def works_of(phase: Phase) -> Works:
    """Yield all work of a phase; return the score at its end."""
    score = NO_SCORE
    if phase.start:
        score = yield Work(phase.start)
    for done in range(phase.sweeps):
        rise = done / max(1, phase.sweeps - 1)
        gamma = phase.hottest * (phase.coldest / phase.hottest) ** rise
        yield Work("estimated", 1, gamma)
        yield Work("subtrees", 1, gamma)
        score = yield Work("regraft", 1, gamma)
    return (yield from _climb(score))


def _climb(score: int) -> Works:
    """Make the best moves until none gains: the cheap ones first, then one sweep of the exact one."""
    for _ in range(MOST):
        score = yield from _climb_cheaply(score)
        before = score
        score = yield Work("exact", 1)
        if score <= before:
            break
    return score


def _climb_cheaply(score: int) -> Works:
    """Alternate between moves in both kinds of tree: a local optimum of one may not be one of the other."""
    for turn in range(MOST):
        before = score
        yield Work("estimated", MOST)
        score = yield Work("subtrees", MOST)
        if turn > 0 and score <= before:
            break
        before = score
        score = yield Work("regraft", MOST)
        if score <= before:
            break
    return score


def sweeps_apart(works: Works) -> Works:
    """Yield the same work, one sweep a launch, until one gains nothing; return the score at its end.

    A stop has to wait for the end of a launch, and one of many sweeps can take minutes.
    """
    score, work = NO_SCORE, next(works)
    while True:
        for _ in range(work.sweeps):
            before, score = score, (yield work._replace(sweeps=1))
            if score <= before:
                break
        try:
            work = works.send(score)
        except StopIteration as end:
            return int(end.value)


class PhaseStopped(Stopped):
    """Raised when a phase is stopped between two launches.

    Attributes:
        states: states of all searches at that time.
    """

    def __init__(self, states: Sequence[SearchState]) -> None:
        super().__init__()
        self.states = tuple(states)


def run_phase(
    runner: SearchRunner,
    states: Sequence[SearchState],
    phases: Sequence[Phase],
    launched: Callable[[Sequence[int]], None],
) -> list[SearchState]:
    """Run one phase of every search and return their states; a slot takes the next search when one is done.

    Args:
        runner: runner of the searches; its slots are overwritten.
        states: state of each search.
        phases: phase of each search.
        launched: called when launches have ended, with the scores of their searches.

    Raises:
        PhaseStopped: `launched` raised `Stopped`.
    """
    ended = list(states)
    waiting = iter(range(len(states)))
    apart = _cost_of_sweep(runner.problem.mutations, runner.problem.columns) > _LONG_SWEEP
    under_way: dict[int, _UnderWay] = {}

    def fill(slot: int) -> None:
        under_way.pop(slot, None)
        number = next(waiting, None)
        if number is not None:
            state, phase = states[number], phases[number]
            runner.put(slot, state_from(state, state.best_parents) if phase.from_best else state)
            works = works_of(phase)
            if apart:
                works = sweeps_apart(works)
            runner.begin(slot, next(works))
            under_way[slot] = _UnderWay(number, works)

    for slot in range(runner.slots):
        fill(slot)
    while under_way:
        scores = runner.ended()
        try:
            launched(list(scores.values()))
        except Stopped:
            runner.finish()
            for slot, one in under_way.items():
                ended[one.number] = runner.get(slot)
            raise PhaseStopped(ended) from None
        for slot, score in scores.items():
            one = under_way[slot]
            try:
                runner.begin(slot, one.works.send(score))
            except StopIteration:
                ended[one.number] = runner.get(slot)
                fill(slot)
    return ended


class _UnderWay(NamedTuple):
    """Search that is in a slot, and its work after what it does now."""

    number: int
    works: Works


_ROUNDS = (
    Phase(sweeps=10, hottest=1.0, coldest=5.0, from_best=True),
    *(
        Phase(sweeps=sweeps, hottest=1.0, coldest=10.0, from_best=True)
        for sweeps in (20, 80, 150, 300, 600, 1000)
    ),
)
"""Short rounds first, then long and slow ones, which noisy data need."""

_HOT, _HOT_FROM = 0.3, 20

"""First exponent of hotter rounds, and the number of sweeps from which rounds are hotter.

Odd-numbered searches do such rounds, to escape the deep local optima of misspecified rates.
"""

_BUDGET = 1.8e10
"""Vectors of numbers that the warm-ups of all searches may process: about 45 s of one core at 2.5 ns each."""

_MUCH = 0.04
"""Share of the budget above which the first round is skipped if all searches agree before it."""

_LONG_SWEEP = 4e8
"""Vectors of a sweep of subtrees and regrafts from which a launch has one sweep: about a second of a core."""

_LONG = 80
"""Sweeps of a long round. It finds trees that short rounds miss, even if all searches agree."""

_LONG_SHARE = 0.25
"""Share of the budget up to which a long round is required before agreement counts (`SearchPolicy.stand`)."""

_LANES = 16
"""Numbers per vector."""

_A_PLACE, _AN_EDGE = 18, 6
"""Cost of a place of a subtree, and of an edge of the cell tree, in addition to its row; in vectors."""

_MANY = ((1e4, 16), (6e4, 8), (4e5, 4))
"""(largest number of entries of the matrix, number of searches); two searches for larger matrices."""

_MANY_OF_EVIDENCE = 8
"""Most searches of evidence; on 36 inputs of 40 x 100 reads, eight more found no better tree."""

_LARGE = 4e5
"""Entries above which no search starts from a short chain.

Climbs from chains end far below the others there: at 10,000 x 1000 at -712,460, others at -197,587.
"""

_CHEAP = 4e6
"""Entries up to which there are four searches if starts use a sample of the columns."""

_AGREEING = 4
"""Number of searches that must find the best score if there are seven or more; of fewer, half must."""

_WORTH = 1.0
"""Nats that the last phase, or as many searches again, must gain if searches of evidence are to go on.

Weights of evidence are of any size, so there are many trees nearly as likely as the best one, and searches
seldom agree: those at a depth of 3 then went on for 30 times as long, to gain 0.1 nats on the mean.
"""

_SOME = 20
"""Sweeps of a round after which searches of evidence may end although they do not agree."""

_TALL = 10
"""Columns per mutation from which a start by all columns takes longer than everything else."""

BY_CHAIN = "by-chain"

"""Start from the best tree of a short chain.

Chains leave local optima that climbs do not leave, and climbs reach optima that chains do not reach.
"""


CHAIN_STEPS = 50_000
"""Steps per chain; on hgsoc1, every climb from a chain of 20,000 steps reaches the best known tree."""

_CHAIN_STEPS_OF_EVIDENCE = 10_000
"""The same of evidence: with 50,000, log-likelihoods of 40 x 100 and 100 x 200 reads differ by 0.06 nats on
the mean, and searches at 40 x 100 take twice as long."""

_STEPS_PER_TREE = 50
"""The same of up to four mutations, per tree: a chain then sees each of them many times."""


@dataclass(frozen=True)
class SearchPolicy:
    """Starts and phases of all searches, and the stopping rule.

    Attributes:
        starts: one stage per search, or BY_CHAIN.
        rounds: phases after the first climb; they are hotter for some searches (`round_of`).
        sure: whether no round is needed if all searches have climbed to the same score: for large inputs,
            whose rounds take seconds.
        stand: minimum sweeps of a round without a better tree before the search may stop, if the best score
            was not found by the first climbs. Without such a round, searches may agree on the second-best
            tree.
        same: difference of scores that makes no difference, in the problem's units.
        worth: gain below which searches end even if they do not agree (`_hardly_gain`); 0 for never.
        chain_steps: steps of each chain that a search starts from.
    """

    starts: tuple[str, ...]
    rounds: tuple[Phase, ...]
    sure: bool = False
    stand: int = 0
    same: int = 0
    worth: float = 0.0
    chain_steps: int = CHAIN_STEPS

    @property
    def by_columns(self) -> bool:
        """Return whether any search starts by columns."""
        return "by-columns" in self.starts

    def round_of(self, number: int, search: int) -> Phase:
        """Return the phase that a search does in a round; rounds are numbered from 1."""
        phase = self.rounds[number - 1]
        return phase._replace(hottest=_HOT) if search % 2 and phase.sweeps >= _HOT_FROM else phase

    def agree(self, scores: Sequence[int]) -> bool:
        """Return whether four searches, or half of fewer, found the best score, from two different starts.

        Every chain counts as a start of its own, since it begins with its own random tree.
        """
        least = max(scores) - self.same
        reached = [start for start, score in zip(self.starts, scores, strict=True) if score >= least]
        different = len(set(reached) - {BY_CHAIN}) + reached.count(BY_CHAIN)
        return len(reached) >= min(_AGREEING, (len(scores) + 1) // 2) and different >= 2

    def enough(self, scores: Sequence[int], tops: Sequence[int]) -> bool:
        """Return whether to stop: the searches agree, and no further round is needed to confirm it.

        Args:
            scores: best score of each search.
            tops: best score of all searches after each phase.
        """
        if self.worth:
            return self._hardly_gain(scores, tops)
        if not self.agree(scores):
            return False
        if len(tops) == 1:
            return self.sure and min(scores) == max(scores)
        stood = self.rounds[len(tops) - 2].sweeps
        return tops[-1] == tops[-2] and (tops[-1] == tops[0] or stood >= self.stand)

    def _hardly_gain(self, scores: Sequence[int], tops: Sequence[int]) -> bool:
        """Return whether searches of evidence gain hardly more, by their scores and by the last phase.

        If they agree, one climb may show it, else a round of some length; a long one does in any case.
        """
        gain, agree = expected_gain(scores), self.agree(scores)
        if len(tops) == 1:
            return gain < self.worth if self.sure else agree and gain <= self.same
        if tops[-1] - tops[-2] >= self.worth:
            return False
        sweeps = self.rounds[len(tops) - 2].sweeps
        return sweeps >= self.stand or (gain < self.worth and (agree or sweeps >= _SOME))


def expected_gain(scores: Sequence[float]) -> float:
    """Return what as many searches again are expected to gain: what these gain over half of them.

    The best of n scores is above the best of h = (n + 1) // 2 drawn from them by this on the mean. As the
    gains of doubling fall, it is rather too high. Infinite for one search.
    """
    falling = sorted(scores, reverse=True)
    count = len(falling)
    if count < 2:
        return math.inf
    half = (count + 1) // 2
    missed, gain = 1.0, 0.0
    for at in range(count - half):  # `missed`: probability that none of the first `at + 1` is drawn
        missed *= (count - half - at) / (count - at)
        gain += missed * (falling[at] - falling[at + 1])
    return gain


def policy_for(mutations: int, columns: int, *, same: float = 0.0, unit: float = 1.0) -> SearchPolicy:
    """Return the policy for a problem.

    Args:
        mutations, columns: numbers of mutations and distinct columns.
        same: difference of log-likelihoods that makes no difference, in nats: of evidence (`Levels.same`). 0
            for calls, whose scores differ by whole errors; then searches end only if they agree.
        unit: the problem's units per nat.
    """
    entries, sampled = mutations * columns, sample_size(mutations, columns) < columns
    searches = next(
        (many for most, many in _MANY if entries <= most and (many <= _MANY_OF_EVIDENCE or not same)),
        4 if sampled and entries <= _CHEAP else 2,
    )
    slow = columns >= _TALL * mutations and not sampled
    kinds = ("by-mutations",) if slow else ("by-mutations", "by-columns")
    more = (BY_CHAIN,) if entries <= _LARGE else kinds
    starts = (*kinds, *more * searches)[:searches]
    sweeps = _BUDGET / (_cost_of_sweep(mutations, columns) * searches)
    return SearchPolicy(
        starts,
        _rounds_for(sweeps),
        sure=_ROUNDS[0].sweeps > _MUCH * sweeps,
        stand=_LONG if _LONG_SHARE * sweeps >= _LONG else 0,
        same=round(same * unit),
        worth=_WORTH * unit if same else 0.0,
        chain_steps=_chain_steps(mutations, _CHAIN_STEPS_OF_EVIDENCE if same else CHAIN_STEPS),
    )


def _chain_steps(mutations: int, most: int) -> int:
    """Return the steps of each short chain: of 3 mutations there are only (n + 1)^(n - 1) = 16 trees."""
    trees: int = (mutations + 1) ** max(mutations - 1, 0)
    return min(most, _STEPS_PER_TREE * trees)


def _cost_of_sweep(mutations: int, columns: int) -> float:
    """Return how many vectors of numbers a sweep of the warm-up processes, over all kinds of move."""
    leaves = min(columns, mutations + 1)
    subtrees = mutations**2 * (columns / _LANES + _A_PLACE)
    regrafts = (2 * leaves) ** 2 * (mutations / _LANES + _AN_EDGE)
    return subtrees + regrafts


def _rounds_for(left: float) -> tuple[Phase, ...]:
    """Return the rounds that fit in the sweeps left, the last one cut short if needed; at least one."""
    rounds: list[Phase] = []
    for phase in _ROUNDS:
        fitting = min(phase.sweeps, int(left))
        if rounds and fitting < rounds[-1].sweeps:  # shorter than the round before
            break
        rounds.append(phase._replace(sweeps=fitting) if rounds else phase)
        left -= phase.sweeps
    return tuple(rounds)
