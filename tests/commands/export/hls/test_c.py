"""Device functions in C: they compute what their Python sources compute, and refuse what C cannot say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.backends.stages.described import stage_kernels
from syclade.host.chains.backends.stages.opening import stage_arrays
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.commands.export.hls.body import translated
from syclade.host.commands.export.hls.program import Function, Program, numbers_and_arrays
from syclade.host.commands.export.hls.project import ONE_LANE, stage_program
from syclade.host.commands.export.hls.values import Array, Number, Record, Value
from syclade.host.ground.errors import SourceError
from syclade.kernels.ancestor.capacity import Capacity
from syclade.kernels.ancestor.stage_arguments import IN, STAGES
from syclade.kernels.target import (
    DeviceFunction,
    any_lane,
    choose,
    control,
    device_function,
    equal,
    lane_sum,
    lesser,
    maximum,
    minimum,
    private_array,
)
from tests.commands.export.hls.c_library import Library, needs_gcc
from tests.support.backends import Case

pytestmark = needs_gcc

PLAN = Case(21, 30).plan()
SIZES = {"nodes": 22, "words": 1, "cells": 30, "values": 2}


def arguments_of(shape: Any) -> Value:
    """Return values of the types in the key of a function."""
    if shape is None or shape[0] == "array":
        return None if shape is None else Array("array", shape[1])
    if isinstance(shape[0], str):
        return Number("0", shape[0], 0, absent=shape[1])
    return Record(shape[0], tuple(arguments_of(one) for one in shape[1:]))


def filled(value: Value, leaves: Iterator[Any]) -> Any:
    """Return an argument for Python from its leaves."""
    if isinstance(value, Record):
        items = [filled(item, leaves) for item in value.items]
        return tuple(items) if value.type is tuple else value.type(*items)
    if isinstance(value, Number) and value.absent:
        return np.dtype(value.dtype).type(0)
    return None if value is None else next(leaves)


class Compared(NamedTuple):
    """A function in C, and its source."""

    function: Function
    python: Callable[..., Any]
    arguments: list[Value]


@pytest.fixture(scope="module")
def program() -> Program:
    return stage_program(PLAN, AncestorEncoding(PLAN.problem, ONE_LANE))


@pytest.fixture(scope="module")
def library(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Library:
    sizes = {name.upper(): value for name, value in AncestorEncoding(PLAN.problem, ONE_LANE).sizes.items()}
    return Library(program, sizes, tmp_path_factory.mktemp("c"))


def of_numbers(program: Program) -> list[Compared]:
    """Return the functions that have numbers only as arguments."""
    found = []
    for (python, *shapes), function in program.functions.items():
        arguments = [arguments_of(shape) for shape in shapes]
        leaves = [leaf for one in arguments for leaf in numbers_and_arrays(one)]
        given_all = [leaf for leaf, used in zip(leaves, function.used, strict=True) if used]
        if function.text and not any(isinstance(leaf, Array) for leaf in given_all):
            found.append(Compared(function, python, arguments))
    return found


def compare(library: Library, one: Compared, leaves: list[Any]) -> None:
    with np.errstate(over="ignore"):
        wanted = one.python(
            *(filled(value, iter_leaves) for iter_leaves in [iter(leaves)] for value in one.arguments)
        )
    found = library.call(one.function, leaves)
    expected = tuple(int(item) for item in wanted) if isinstance(wanted, tuple) else int(wanted)
    assert found == expected, one.function.name


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_functions_of_numbers(program: Program, library: Library, data: st.DataObject) -> None:
    compared = of_numbers(program)
    assert {"words_popcount", "philox_4x32_10", "swap_bits", "ticket_of", "swap_labels_propose"} <= {
        one.function.name for one in compared
    }
    for one in compared:
        wide = one.function.name in ("words_popcount", "spread", "swap_bits", "parent_row_word", "bit_of")
        leaves = []
        for leaf in (leaf for value in one.arguments for leaf in numbers_and_arrays(value)):
            if isinstance(leaf, Array):
                leaves.append(np.zeros(1, leaf.dtype))
                continue
            most = 2**64 if wide and leaf.dtype == "uint64" else 2**31
            number = data.draw(st.integers(0, most - 1) | st.integers(0, 3))
            leaves.append(np.dtype(leaf.dtype).type(number))
        compare(library, one, leaves)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_functions_of_arrays(program: Program, library: Library, seed: int) -> None:
    """Small numbers and random bits; where the source would read beyond an array, C is not called."""
    random = np.random.default_rng(seed)
    compared = set()
    for (python, *shapes), function in program.functions.items():
        arguments = [arguments_of(shape) for shape in shapes]
        leaves = [made(leaf, random) for one in arguments for leaf in numbers_and_arrays(one)]
        if not function.text or function.name.startswith("ancestor_"):
            continue
        own = [leaf.copy() for leaf in leaves]
        try:
            with np.errstate(over="ignore"):
                source = iter(leaves)
                wanted = python(*(filled(value, source) for value in arguments))
        except (IndexError, OverflowError):
            continue
        found = library.call(function, own)
        if wanted is not None:
            expected = tuple(map(int, wanted)) if isinstance(wanted, tuple) else int(wanted)
            assert found == expected, function.name
        for one, other in zip(leaves, own, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=function.name)
        compared.add(function.name)
    assert {
        "is_descendant",
        "relations_select",
        "worth_at",
        "tree_update",
        "take_rows",
        "draw_batch",
    } <= compared


def made(leaf: Number | Array, random: np.random.Generator) -> Any:
    """Return a random number below 20, or a long array: of any bits, or of numbers below 20."""
    if isinstance(leaf, Number):
        return np.dtype(leaf.dtype).type(random.integers(0, 20))
    most = 2**64 if leaf.dtype == "uint64" else 20
    return random.integers(0, most, 4096, dtype=np.uint64).astype(leaf.dtype)


def states(case: Case) -> tuple[AncestorEncoding, dict[str, NDArray[Any]]]:
    """Return the arrays of the stages for one chain before its first step."""
    plan = case.plan()
    encoding = AncestorEncoding(plan.problem, ONE_LANE)
    engine = stage_arrays(stage_kernels(plan, encoding), plan, encoding, 1, case.seed)
    Runner(plan, encoding, case.seed, engine).put_all([initial_state(plan, case.seed, 0)])
    engine.named["last_step"][:] = 10**6
    return encoding, dict(engine.named)


@pytest.mark.parametrize(
    "case", [Case(8, 13, gamma=0.2), Case(70, 20, gamma=0.2), Case(12, 30, kind="zygosity")], ids=str
)
def test_stages_follow_their_sources_step_by_step(case: Case, tmp_path: Any) -> None:
    plan = case.plan()
    encoding, arrays = states(case)
    program = stage_program(plan, encoding)
    library = Library(program, {name.upper(): value for name, value in encoding.sizes.items()}, tmp_path)
    named = {one.name: one for one in program.functions.values()}
    for step in range(12 if case.n > 64 else 60):
        for stage in stage_kernels(plan, encoding):
            own = {one.argument.name: arrays[one.argument.name].copy() for one in stage.arguments}
            library.call(named[f"ancestor_{stage.name}"], list(own.values()))
            given_all = stage.kernel.record_types()[0][0](*(arrays[name].reshape(-1) for name in own))
            with np.errstate(over="ignore"):
                stage.kernel.body()(np.uint64(0), np.uint64(0), given_all)
            for name, array in own.items():
                np.testing.assert_array_equal(array, arrays[name], err_msg=f"{stage.name}: {name}, {step}")
    assert arrays["tallies"][0, 5:].sum() > 3


def test_the_text_has_names_of_sizes_origins_and_directions(program: Program) -> None:
    text = program.text()
    larger = Case(70, 20).plan()
    assert text == stage_program(larger, AncestorEncoding(larger.problem, ONE_LANE)).text()
    assert "Source: kernels/ancestor/tree_update.py:" in text
    stage = next(one for one in program.functions.values() if one.name == "ancestor_tree_update")
    heads = re.findall(r"(const )?\w+ \*(\w+)", stage.text.split("{")[0])
    assert [(bool(constant), name) for constant, name in heads] == [
        (direction == IN, argument.name) for argument, direction in STAGES["tree_update"]
    ]


@device_function
def operations(a: Any, b: Any, flag: Any) -> Any:
    """Use the operations of the target that the stages do not use."""
    own = private_array(3, np.int64)
    for index in range(3):
        own[index] = minimum(a + index, b)
    mask = any_lane(a < b) & equal(flag, control(1))
    chosen = choose(mask, own[2], lane_sum(own[0]))
    if (a > b and not_small(b)) or flag == control(7):
        chosen = chosen - lesser(a, b)
        own[0] = a
    else:
        chosen = ~chosen
    return maximum(chosen + own[0], -b), (a if flag == a else b)


@device_function
def not_small(number: Any) -> Any:
    """Return whether a number is at least 5."""
    return number >= control(5)


@settings(deadline=None, max_examples=60)
@given(numbers=st.tuples(*[st.integers(-9, 9)] * 3))
def test_operations(numbers: tuple[int, ...], operations_library: tuple[Library, Function]) -> None:
    library, function = operations_library
    given_all = [np.int64(number) for number in numbers]
    assert library.call(function, given_all) == tuple(int(one) for one in operations(*given_all))


@pytest.fixture(scope="module")
def operations_library(tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, Function]:
    made = Program(Capacity)
    function = translated(made, operations, [Number("0", "int64")] * 3)
    return Library(made, {}, tmp_path_factory.mktemp("operations")), function


@device_function
def loops_while(a: Any) -> Any:
    while a > control(0):
        a = a - control(1)
    return a


@device_function
def loops_over_data(a: Any) -> Any:
    for _ in range(a):
        a = a + control(1)
    return a


@device_function
def mixes(a: Any) -> Any:
    return a + np.uint64(1)


@device_function
def calls_python(a: Any) -> Any:
    return math.floor(a)


@device_function
def calls_with_names(a: Any) -> Any:
    return control(number=a)  # type: ignore[call-arg]


@device_function
def has_reals(a: Any) -> Any:
    return a + 0.5


@device_function
def divides(a: Any) -> Any:
    return a // control(2)


@device_function
def defined_in_a_branch(a: Any) -> Any:
    if a > control(0):
        b = a
    return b


@device_function
def of_two_types(a: Any) -> Any:
    if a > control(0):
        return a
    return np.uint64(1)


@device_function
def adds_a_comparison(a: Any) -> Any:
    return a + (a > control(0))


REFUSED = {
    loops_while: "by while",
    loops_over_data: "depends on data",
    mixes: "int64 and uint64|uint64 and int64",
    calls_python: "math.floor",
    calls_with_names: "Call",
    has_reals: "Constant",
    divides: "FloorDiv",
    defined_in_a_branch: "b is not known on every way",
    of_two_types: "different types",
    adds_a_comparison: "comparison",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda one: one.__name__)
def test_constructs_without_a_counterpart_are_refused_at_their_place(function: DeviceFunction) -> None:
    with pytest.raises(SourceError, match=REFUSED[function]) as caught:
        translated(Program(Capacity), function, [Number("0", "int64")])
    first = function.function.__code__.co_firstlineno
    assert caught.value.path == __file__
    assert caught.value.line is not None
    assert first < caught.value.line < first + 6
    assert str(caught.value).startswith(f"{__file__}:{caught.value.line}:")
