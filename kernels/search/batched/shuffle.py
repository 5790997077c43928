"""The random order of a sweep: the words are drawn by all threads of a team, and used by one."""

import numpy as np

from syclade.kernels.search.batched.team import SCORE, clear_scores, put_number
from syclade.kernels.search.draws import TURNS, word_of
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import meet

_WORD = np.uint64(32)


@device_function
def word_at(work, item):
    """Return where a random word of the team is (control)."""
    return work.part * 2 * work.longest + item


@device_function
def below_word(work, item, count):
    """Return a whole number from 0 to count - 1 by a word that was drawn (control)."""
    return control((np.uint64(work.given.words[word_at(work, item)]) * np.uint64(count)) >> _WORD)


@device_function
def shuffle(
    work,  # OUT turn, words
    count,  # IN control
    sweep,  # IN int64: number of the sweep
):
    """Put 0 ... count-1 into `turn` in a random order, that of `search/draws.py`; the team meets."""
    given, base = work.given, work.part * work.longest
    for item in range(work.thread, count, work.threads):
        given.turn[base + item] = np.int32(item)
        given.words[word_at(work, item)] = np.int64(word_of(work, item, TURNS, sweep))
    meet()
    if work.thread == 0:
        for done in range(count - 1):
            last = count - 1 - done
            other = below_word(work, last, last + 1)
            held = given.turn[base + last]
            given.turn[base + last] = given.turn[base + other]
            given.turn[base + other] = held
    meet()


@device_function
def begin_sweep(
    work,  # OUT turn, words, numbers, turn_scores
    sweep,  # IN int64: number of the sweep
    score,  # IN int64: score of the tree
):
    """Put the mutations into a random order, and prepare the scores that `count_changes` compares."""
    shuffle(work, work.mutations, sweep)
    if work.thread == 0:
        put_number(work, SCORE, score)
    clear_scores(work, work.mutations)


@device_function
def v_of(work, turn):
    """Return the mutation, or the node, whose turn it is (control)."""
    return control(work.given.turn[work.part * work.longest + turn])
