"""The table of options and what goes together: commands, Python, checks and documents follow from them."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

import syclade
from syclade.host.commands.call import command as call_command
from syclade.host.commands.infer import command
from syclade.host.data.input.names import names_of_list
from syclade.host.ground.errors import OptionError, RatesError
from syclade.host.ground.options import (
    CODING,
    DECIDE,
    OPTIONS,
    Options,
    Reading,
    checked,
    command_of,
    flag_of,
    given_of,
    in_python,
)
from syclade.host.ground.options.calls import CallOptions
from syclade.host.ground.options.types import AnyPath, Names, Option, Values
from syclade.host.ground.supported import EXCLUSIONS, FEATURES, NEEDS, Need, check_together, refusal, title_of
from tests.conftest import ROOT
from tests.support.options_page import page

GIVEN: dict[str, Any] = {
    "flag": True,
    "whole": 7,
    "number": 0.7,
    "text": "x",
    "weights": (1, 1, 1),
    "pair": (7, 7),
}
"""A value for each type of option that is not its default."""


TYPES: dict[str, Any] = {
    "flag": bool,
    "whole": int,
    "number": float,
    "choice": str,
    "text": str,
    "weights": Sequence[float],
    "pair": tuple[int, int],
    "file": AnyPath,
    "output": AnyPath,
    "names": Names,
    "list": Names,
    "tree": object,
    "labels": object,
}
"""The type in Python of each type of option."""

WIDER = {"recurrent": str | int | None, "total_reads": object, "ref_reads": object, "absent": object}
"""Types of options that take objects in Python."""


@pytest.mark.parametrize("option", OPTIONS.values(), ids=list(OPTIONS))
def test_types(option: Option) -> None:
    _check_type(option, Options)


@pytest.mark.parametrize("option", CallOptions.table.values(), ids=list(CallOptions.table))
def test_types_of_call(option: Option) -> None:
    _check_type(option, CallOptions)


def _check_type(option: Option, options: type[Values]) -> None:
    """Annotations are those of the types of the table; the default is a value of the type."""
    annotation = get_type_hints(options)[option.name]
    if option.name in WIDER:
        assert annotation == WIDER[option.name]
        return
    expected = TYPES[option.type.name]
    if option.type.name == "number" and option.type.choices:
        expected |= str
    if option.default is None and expected is not object:
        expected |= None
    assert annotation == expected
    assert option.default is None or isinstance(option.default, TYPES[option.type.name])


@pytest.mark.parametrize("function", [syclade.infer, syclade.read_matrix])
def test_signatures(function: Any) -> None:
    """Names and defaults of explicit signatures are those of the table."""
    own = {
        "infer": {"matrix", "executor", "stop", "progress", "reading"},
        "read_matrix": {"source", "strict", "beside"},
    }
    found = {name: one.default for name, one in inspect.signature(function).parameters.items()}
    report = {
        name: option.default
        for name, option in OPTIONS.items()
        if option.of == function.__name__ or (function is syclade.read_matrix and option.type.name == "names")
    }
    assert {name: found[name] for name in found.keys() - own[function.__name__]} == report


def test_arguments_have_the_types_of_options() -> None:
    """`infer` hands its arguments to `Options` by name, where mypy cannot follow."""
    device, queue = type("SyclDevice", (), {}), type("SyclQueue", (), {})
    names = {"Executor": object, "Result": object, "Stop": object, "SyclDevice": device, "SyclQueue": queue}
    found = get_type_hints(syclade.infer, localns=names)
    types = get_type_hints(Options)
    expected = {name: types[name] for name, option in OPTIONS.items() if option.of == "infer"}
    expected["device"] = str | device | queue  # `options_of` takes the name of a device
    assert {name: found[name] for name in expected} == expected


def test_options_of_matrices_are_arguments_of_inferences() -> None:
    types = get_type_hints(Options)
    assert get_type_hints(Reading) == {name: types[name] for name in CODING}
    wrong: Any = {"rowz": "cells"}
    for function, given in ((syclade.infer, ()), (syclade.score, ([0, 0],))):
        with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'rowz'"):
            function([[0, 1]], *given, **wrong)


def test_options_are_immutable_values() -> None:
    given, misspelt = Options(seed=7), dict[str, Any](sead=7)
    assert given == pickle.loads(pickle.dumps(given)) == Options().replace(seed=7)
    assert given != Options() == Options(seed=1) == given.replace(seed=1)
    assert len({given, Options(), Options(seed=7, support=None)}) == 2
    assert (given.to_dict()["seed"], repr(given)) == (7, "Options(seed=7)")
    with pytest.raises(AttributeError, match=r"replace\(seed="):
        given.seed = 8  # type: ignore[misc]
    with pytest.raises(TypeError, match="no sead"):
        Options(**misspelt)


def test_errors_in_python_name_arguments() -> None:
    wrong: Any = "a"
    with pytest.raises(OptionError, match=r"--fp-rate is 'a', .*\nin Python: fp_rate=$") as caught:
        syclade.infer([[0, 1], [1, 0]], fp_rate=wrong, fn_rate=0.1)
    assert "Python" not in caught.value.text
    assert in_python("replace with --force, --min-af or --out, not --forces") == ["force=True", "min_af="]


def test_plain_values() -> None:
    """JSON keeps given options, whatever objects they were."""
    given = Options(
        seed=7, attach=True, gamma=2, names=("a", "b"), image=Path("x"), true_tree=np.zeros(3),
        unmutated_counts=(1, 2), move_probabilities=(1, 2, 3), doublets="learn",
    )  # fmt: skip
    report = {
        "names": ["a", "b"], "doublets": "learn", "seed": 7, "gamma": 2.0, "image": "x", "attach": True,
        "move_probabilities": [1.0, 2.0, 3.0], "unmutated_counts": [1, 2], "true_tree": None,
    }  # fmt: skip
    assert given_of(given) == json.loads(json.dumps(report))
    assert isinstance(given_of(given)["gamma"], float)
    assert given_of(Options(seed=1, method="auto")) == {}


def test_the_command_has_all_options() -> None:
    flags = {flag for parameter in command.params for flag in parameter.opts if flag.startswith("--")}
    assert flags == {*map(flag_of, OPTIONS)}
    assert len(flags) == len(OPTIONS)


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "options.md").read_text("utf-8") == page(), (
        "python -m tests.support.options_page > docs/options.md"
    )


def test_the_page_has_all_options_of_call() -> None:
    """Those that are hidden are LoFreq's, which are refused."""
    taken, refused = page().split("## `syclade call`\n")[1].split("\n## ")
    visible = {
        flag: not getattr(parameter, "hidden", False)
        for parameter in call_command.params
        for flag in parameter.opts
        if flag.startswith("--")
    }
    assert len(visible) > 35
    for flag, is_visible in visible.items():
        assert re.search(rf"^\| `(-\w, )?{flag}[ `]", taken if is_visible else refused, re.M), flag


def test_options_that_determine_the_result() -> None:
    """Those that only say where and how to run are not among them."""
    assert {"seed", "score", "start", "burn_in", "move_probabilities"} < set(DECIDE)
    assert not {"device", "encoding", "slots", "stages", "image", "checkpoint", "names", "out"} & set(DECIDE)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("chains", (1, 2**32 - 1), (0, 2**32, 1.5, "3", True)),
        ("steps", (None, 1), (0, True)),
        ("seed", (0, 2**64 - 1), (-1, 2**64)),
        ("gamma", (1e-6, 1, 1e6), (0, 2e6, math.nan, True)),
        ("burn_in", (0, 0.99), (1, -0.1, math.inf)),
        ("checkpoint_every", (0, 1e300), (-1, math.inf, math.nan, None)),
        ("fp_rate", (None, 0.5), (0, 1, "0.5")),
        ("score", ("max", "sum"), ("both", None, 3)),
        ("doublets", (None, 0.5, "learn"), (0, 1, "0.5", "learned", True)),
        ("learn_fn", (None, 0.5), ("learn",)),
        ("unmutated_counts", (None, (0, 0), (10**12, 3)), ((1,), (1, 2, 3), (-1, 0), (0.5, 0), 7, "12")),
        ("max_trees", (None, 1), (0, 10**6 + 1)),
        ("fn_sd", (None, 0.1), (math.nan, "x")),
        ("image", (None, "x"), ("", 5)),
    ],
)
def test_limits(name: str, good: tuple[Any, ...], bad: tuple[Any, ...]) -> None:
    for value in good:
        found = checked(name, value)
        assert str(found) == value if isinstance(found, Path) else found == value
    for value in bad:
        with pytest.raises(OptionError, match=f"^{flag_of(name)} "):
            checked(name, value)


def test_the_command_that_repeats_a_run() -> None:
    options: dict[str, Any] = {"fp_rate": 0.1, "attach": True, "chains": None, "merge_homozygous": False}
    options |= {"move_probabilities": [0.5, 0.5, 0.0], "names": "my names"}
    options |= {"doublets": "learn", "unmutated_counts": [1000, 10]}
    assert command_of("m.csv", options) == (
        "syclade infer m.csv --fp-rate 0.1 --attach --move-probs 0.5 0.5 0.0 --names 'my names' "
        "--doublets learn --unmutated-counts 1000 10"
    )


def test_the_command_that_repeats_a_run_leaves_out_defaults() -> None:
    options: dict[str, Any] = {name: row.default for name, row in OPTIONS.items()}
    options |= {"seed": 1, "merge_homozygous": True, "move_probabilities": [0.55, 0.4, 0.05]}
    assert command_of("m.csv", options) == "syclade infer m.csv --merge-homozygous"
    options |= {"tree": "leaf", "move_probabilities": [0.4, 0.6], "merge_homozygous": False, "seed": 2}
    assert command_of("m.csv", options) == "syclade infer m.csv --tree leaf --seed 2"
    options |= {"move_probabilities": [0.5, 0.5]}
    assert command_of("m.csv", options).endswith("--tree leaf --seed 2 --move-probs 0.5 0.5 0")


def test_a_list_of_names_is_a_text_that_repeats_it() -> None:
    names = ("TP53", "KRAS, exon 2", 'the "first"', 'a,"b"')
    options = given_of(Options(exclude_mutations=names))
    assert options == {"exclude_mutations": 'TP53,"KRAS, exon 2","the ""first""","a,""b"""'}
    assert names_of_list(str(options["exclude_mutations"]), "") == names
    assert command_of("m.csv", {"exclude_mutations": "A,B"}) == "syclade infer m.csv --exclude-mutations A,B"


# ---- what goes together


def with_features(*features: str) -> Options:
    """Return options that have these features."""
    options: dict[str, Any] = {}
    for feature in features:
        name, values = FEATURES.get(feature, (feature, ()))
        options[name] = values[0] if values else GIVEN.get(OPTIONS[name].type.name, "some file")
    return Options(**options)


@pytest.mark.parametrize(
    ("feature", "other"), [(rule.feature, other) for rule in EXCLUSIONS for other in rule.others]
)
def test_exclusions(feature: str, other: str) -> None:
    options = with_features(feature, other)
    with pytest.raises(OptionError, match="does not go with") as refused:
        check_together(options)
    assert title_of(feature) in refused.value.message
    assert title_of(other) in refused.value.message
    assert refused.value.hint
    assert refusal(feature, other).message == refused.value.message


@pytest.mark.parametrize("need", NEEDS, ids=lambda need: f"{need.feature}-{need.needed}")
def test_needs(need: Need) -> None:
    """The need is all that is missing: with it, the options go together."""
    complete = {need.feature, *([need.of] if need.of else [])}
    for _ in NEEDS:
        complete |= {one.needed for one in NEEDS if one.feature in complete}
    check_together(with_features(*complete))
    if need.of:
        check_together(with_features(*complete - {need.needed, need.of}))
    message = re.escape(f"{title_of(need.feature)} without {title_of(need.needed)}")
    with pytest.raises(RatesError, match=message):
        check_together(with_features(*complete - {need.needed}), RatesError)


def test_pairs_without_a_rule_go_together() -> None:
    """No rule names a feature that does not exist, and none applies to options with their defaults."""
    check_together(Options())
    refused = {frozenset((rule.feature, other)) for rule in EXCLUSIONS for other in rule.others}
    needy = {need.feature for need in NEEDS}
    free = {name for name in (*FEATURES, *OPTIONS)} - needy - {name for name, _ in FEATURES.values()}
    for one, other in itertools.combinations(sorted(free), 2):
        same = {FEATURES.get(name, (name,))[0] for name in (one, other)}
        pairs = {frozenset(pair) for pair in itertools.product(_implied(one), _implied(other))}
        if not pairs & refused and len(same) == 2:
            check_together(with_features(one, other))


def _implied(feature: str) -> list[str]:
    """Return the features that options with a feature have: itself, and those with all of its values."""
    option, values = FEATURES.get(feature, (feature, ()))
    wider = [one for one, (name, own) in FEATURES.items() if name == option and {*values} <= {*own}]
    return [feature, *(wider if values else [])]
