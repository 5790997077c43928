"""Encodings: how they are chosen, and which problems they reject."""

import click
import numpy as np
import pytest

import syclade.host.chains.encodings.preorder as module
from syclade.host.chains.backends import default_slots, slot_bytes
from syclade.host.chains.encodings import (
    ENCODINGS,
    HAVE_GENERAL,
    MADE_FOR,
    OF_OTHER_TREES,
    PlainEncoding,
    choose_encoding,
    encodings_of,
    make_encoding,
)
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.encodings.preorder import CUDA_FORMS, GeneralPreorderEncoding, PreorderEncoding
from syclade.host.chains.plan import chain_kernel, chain_sizes, make_plan
from syclade.host.commands import infer
from syclade.host.data.model.problem import Problem, make_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device import engines
from syclade.host.device.device import NUMPY, PYTHON, Device
from syclade.host.ground.errors import OptionError
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.tables.layout import make_layout
from syclade.kernels.target import python
from syclade.kernels.target.cuda.traits import TRAITS as CUDA
from syclade.kernels.target.native.traits import TRAITS as NATIVE
from syclade.kernels.target.sycl_traits import TRAITS
from syclade.kernels.target.traits import Traits
from tests.support.backends import Case
from tests.support.learned import learned_plan

CPU = Device("opencl:cpu:0", "a processor", "cpu", 3)
FPGA = Device("opencl:fpga:0", "an accelerator", "fpga", 1)


def problem_of(cells: int, mutations: int) -> Problem:
    return make_problem(simulate(cells, mutations, 1e-6, 0.25, 0.25, 1).matrix, Rates(1e-6, 0.25))


def test_auto_is_what_is_faster_there() -> None:
    problem = problem_of(20, 10)
    assert choose_encoding("auto", CPU, problem).name == "preorder"
    assert choose_encoding("auto", FPGA, problem).name == "ancestor"
    assert choose_encoding("ancestor", CPU, problem).name == "ancestor"
    assert choose_encoding("auto", NUMPY, problem).name == "plain"
    assert choose_encoding("ancestor", NUMPY, problem).name == "ancestor"


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(OptionError, match=r"no encoding 'leaf'"):
        make_encoding("leaf")
    with pytest.raises(OptionError, match=r"no encoding 'leaf'"):
        choose_encoding("leaf", NUMPY, problem_of(20, 10))


def test_numpy_refuses_what_it_has_not() -> None:
    """Check that numpy never uses another encoding than the requested one."""
    with pytest.raises(OptionError, match="numpy has no encoding 'preorder'") as caught:
        choose_encoding("preorder", NUMPY, problem_of(20, 10))
    assert caught.value.hint == "use --encoding auto, or plain or ancestor"
    learned = learned_plan(Case(8, 13)).problem
    assert choose_encoding("ancestor", NUMPY, learned).name == "ancestor"
    assert choose_encoding("auto", NUMPY, learned).name == "plain"
    assert encodings_of(NUMPY) == ("plain", "ancestor")
    assert encodings_of(CPU) == ("preorder", "ancestor")


def test_sizes_are_those_that_suit_the_target() -> None:
    """Compare with the same problem for a warp of 32 lanes with few registers."""
    problem = problem_of(200, 40)
    warp = Traits(lanes=32, panel_rounds=4, sketches_beyond=100)
    usual, other = PreorderEncoding(problem, TRAITS).shape, PreorderEncoding(problem, warp).shape
    assert (usual.lanes, usual.rounds, usual.panels, usual.subtrees) == (16, 7, 2, 0)
    assert (other.lanes, other.rounds, other.panels, other.subtrees) == (32, 4, 2, 1)
    assert (usual.nodes, other.nodes) == (48, 64)
    assert AncestorEncoding(problem, warp).lanes == 32
    assert AncestorEncoding(problem, warp).constants["cells"] == 224


def test_a_device_gets_what_suits_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(20, 10)
    eight = TRAITS._replace(lanes=8)
    monkeypatch.setitem(engines._TRAITS, "native", eight)
    native = Device("native", "this processor", "native", 2)
    for name in ("ancestor", "preorder"):
        assert choose_encoding(name, native, problem).lanes == 8
        assert choose_encoding(name, CPU, problem).lanes == TRAITS.lanes
        assert choose_encoding(name, PYTHON, problem).lanes == python.TRAITS.lanes


def test_kernels_for_many_sizes_are_for_the_targets_that_they_were_made_for() -> None:
    problem = problem_of(20, 10)
    assert NATIVE == TRAITS == MADE_FOR
    assert HAVE_GENERAL == (TRAITS, CUDA)
    for traits in HAVE_GENERAL:
        assert PreorderEncoding(problem, traits).general() is not None
    assert PreorderEncoding(problem, CUDA).specialised() is None
    for other in ({"lanes": 8}, {"panel_rounds": 4}, {"sketches_beyond": 100}):
        assert PreorderEncoding(problem, TRAITS._replace(**other)).general() is None


@pytest.mark.parametrize("learn_fn", [None, 0.2], ids=["fixed", "learned"])
@pytest.mark.parametrize("octaves", [False, True], ids=["max", "sum"])
def test_forms_of_gpus_hold_every_width(learn_fn: float | None, octaves: bool) -> None:
    """A table has the columns and less than a panel of padding; its form is one of a few."""
    rates = Rates(0.01, 0.2)
    model = make_rate_model(rates, learn_fn=learn_fn)
    for columns in (1, 64, 65, 128, 129, 256, 257, 500, 769, 1500):
        values = simulate(columns, 12, 0.01, 0.2, 0.3, 1).matrix
        problem = make_problem(values, rates, octaves=octaves, model=model)
        made = PreorderEncoding(problem, CUDA).general()
        assert isinstance(made, GeneralPreorderEncoding)
        wide = problem.columns > CUDA.sketches_beyond and not problem.reads_all_scores
        rounds = made.constants["rounds"]
        assert made.shape.cells - CUDA.lanes * rounds < problem.columns <= made.shape.cells
        assert Form(CUDA.lanes, rounds, int(wide), made.constants["broad"]) in CUDA_FORMS
        assert learn_fn is None or rounds == 4, "learned rates have one form"


def test_a_problem_that_does_not_fit_is_for_another_encoding(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Row offsets must fit in an int32: an explicit encoding is rejected, auto warns and takes another."""
    problem = problem_of(20, 10)
    fits = PreorderEncoding(problem, TRAITS).sizes
    size = fits["rows"] * fits["cells"]
    monkeypatch.setattr(module, "LARGEST_TABLES", size)
    assert choose_encoding("preorder", CPU, problem).sizes == fits
    monkeypatch.setattr(module, "LARGEST_TABLES", size - 1)
    with pytest.raises(OptionError, match=r"10 mutations and .* GiB of tables a chain") as caught:
        choose_encoding("preorder", CPU, problem)
    assert "--encoding auto" in str(caught.value.hint)
    with caplog.at_level("WARNING", logger="syclade"):
        assert choose_encoding("auto", CPU, problem).name == "ancestor"
    assert "preorder cannot hold this matrix" in caplog.text


def test_rows_start_where_layout_says() -> None:
    layout = make_layout(Shape(nodes=48, labels=48, cells=32, block=8, lanes=16, panels=1, subtrees=1))
    starts = (
        layout.zero,
        layout.weights,
        layout.prefix,
        layout.suffix,
        layout.top,
        layout.before,
        layout.after,
    )
    assert all(start % 32 == 0 for start in starts)
    assert list(starts) == sorted(set(starts))
    assert layout.after + 6 * 32 == layout.rows * 32


def test_small_tables_leave_room_for_more_slots() -> None:
    """Check for four to sixteen slots per unit, as many as fit in a megabyte, but no more than chains."""

    def slots(cells: int, mutations: int, chains: int = 1000) -> int:
        problem = problem_of(cells, mutations)
        return default_slots(CPU, make_plan(problem), PreorderEncoding(problem, TRAITS), chains)

    assert slots(32, 31) == 3 * 16
    assert 3 * 4 < slots(64, 63) < 3 * 16
    assert slots(300, 200) == 3 * 4
    assert slots(32, 31, chains=5) == 5


def test_bytes_of_a_slot_are_what_a_slot_more_takes() -> None:
    problem = problem_of(20, 10)
    plan, encoding = make_plan(problem), PreorderEncoding(problem, TRAITS)

    def taken(slots: int) -> int:
        sizes = chain_sizes(plan, encoding, slots)
        return sum(
            int(np.prod(one.dimensions(sizes))) * np.dtype(one.dtype).itemsize
            for one in chain_kernel(plan, encoding).arguments
        )

    assert slot_bytes(plan, encoding) == taken(5) - taken(4)


def test_every_encoding_can_be_asked_for() -> None:
    """The command line lists the encodings by hand, so that its help does not import numpy."""
    (option,) = (one for one in infer.command.params if one.name == "encoding")
    assert isinstance(option.type, click.Choice)
    assert set(option.type.choices) == {"auto", *ENCODINGS, *OF_OTHER_TREES, PlainEncoding.name}
