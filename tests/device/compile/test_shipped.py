"""Precompiled kernels: they match their sources and run on this machine."""

from __future__ import annotations

import hashlib
import json
import lzma
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from syclade.host.commands.ship import make as ship
from syclade.host.commands.ship.kernels import Shipped
from syclade.host.commands.ship.kernels import shipped_kernels as make_shipped_kernels
from syclade.host.commands.ship.make import compile_apart, differences, same_but_for_names
from syclade.host.device.compile import machine_code
from syclade.host.device.compile import precompiled as shipped
from syclade.host.device.compile.precompiled import (
    MANIFEST,
    PROCESSORS,
    SPIRV,
    find_shipped,
    own_processor,
    ship_key,
)
from syclade.host.ground.spirv import (
    Instruction,
    Op,
    header,
    instructions,
    module_of,
    rename_entry_point,
)
from tests.support.backends import NUMPY, Backend, Case, assert_equal_chains, run_alone

FOLDER = Path(shipped.__file__).parent / "kernels"
_LONG = (0x61616161,) * 3  # a longer name
ANEW = "`make kernels` compiles them anew"


@cache
def shipped_kernels() -> dict[str, Shipped]:
    """Return the precompiled kernels; making them takes seconds."""
    return make_shipped_kernels()


def test_every_kernel_is_there_for_everything_and_of_these_sources() -> None:
    """Otherwise a first run would wait for the compiler, and only a user would notice."""
    there = {(entry["name"], entry["for"]): entry["key"] for entry in shipped.shipped()}
    wanted = {
        (name, made_for): ship_key(one.kernel, made_for)
        for name, one in shipped_kernels().items()
        for made_for in one.made_for
    }
    assert there == wanted, ANEW


def test_files_are_those_of_the_manifest() -> None:
    manifest = json.loads((FOLDER / MANIFEST).read_text())
    files = {path.name for path in FOLDER.iterdir()} - {MANIFEST}
    assert files == {entry["file"] for entry in manifest["kernels"]}
    kernels = shipped_kernels()
    for entry in manifest["kernels"]:
        found = find_shipped(kernels[entry["name"]].kernel, entry["for"])
        assert found is not None
        assert found[0] == entry["entry_point"]
        assert hashlib.sha256(found[1]).hexdigest() == entry["sha256"]


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("name", "made_for"),
    [
        ("ancestor-stage-propose", SPIRV),  # small kernels compile in a few seconds
        ("tails-grouped-native", "x86_64-v4"),
        *(
            pytest.param("chain-narrow-4-general", made_for, marks=pytest.mark.verification)
            for made_for in (SPIRV, *PROCESSORS)
        ),
    ],
)
def test_the_compiler_makes_the_same_bytes(name: str, made_for: str) -> None:
    """Compile one kernel; `python -m syclade.host.commands.ship.make --check` compares all."""
    manifest = json.loads((FOLDER / MANIFEST).read_text())
    installed = {name: metadata.version(name) for name in manifest["versions"]}
    assert installed == manifest["versions"], ANEW
    (entry,) = [one for one in manifest["kernels"] if (one["name"], one["for"]) == (name, made_for)]
    entry_point, content = compile_apart(name, made_for)
    assert entry_point == entry["entry_point"]
    assert hashlib.sha256(content).hexdigest() == entry["sha256"], ANEW


def test_the_check_tells_content_from_keys() -> None:
    """The check distinguishes source changes that change code from those that do not."""
    there = json.loads((FOLDER / MANIFEST).read_text())
    made = json.loads(json.dumps(there))
    assert differences(there, made) == []
    first, second, third, *_ = made["kernels"]
    first["key"] = "of other sources"
    second |= {"key": "of other sources", "sha256": "of other code"}
    made["versions"]["numba"] = "1.0"
    made["kernels"].remove(third)
    assert sorted(differences(there, made)) == sorted(
        [
            f"{first['file']}: its key differs, its content does not",
            f"{second['file']}: its code differs",
            f"{third['file']}: is not among them any more",
            f"numba is 1.0, and was {there['versions']['numba']}",
        ]
    )


def test_kernels_of_the_same_sources_are_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of one family of kernels then costs the compile time of that family only."""
    compiled: list[str] = []

    def compile_nothing(name: str, made_for: str) -> tuple[str, bytes]:
        compiled.append(f"{name}.{made_for}.xz")
        return "entry", b"code"

    monkeypatch.setattr(ship, "compile_apart", compile_nothing)
    monkeypatch.setattr(ship, "shipped_kernels", shipped_kernels)
    there = json.loads((FOLDER / MANIFEST).read_text())
    assert [entry for entry, _ in ship._make_all(there)] == there["kernels"]
    assert compiled == []
    there["kernels"][0]["key"] = "of other sources"
    there["kernels"][1]["sha256"] = "of other bytes"
    ship._make_all(there)
    assert sorted(compiled) == sorted(entry["file"] for entry in there["kernels"][:2])
    compiled.clear()
    there["versions"]["numba"] = "1.0"
    ship._make_all(there)
    assert len(compiled) == len(there["kernels"])


def test_an_interrupted_run_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    two = dict(list(shipped_kernels().items())[:2])
    names = [(name, made_for) for name, one in two.items() for made_for in one.made_for]
    compiled: list[tuple[str, str]] = []
    most = 3

    def compile_some(name: str, made_for: str) -> tuple[str, bytes]:
        if len(compiled) == most:
            raise KeyboardInterrupt
        compiled.append((name, made_for))
        return "entry", b"code"

    monkeypatch.setattr(ship, "FOLDER", tmp_path)
    monkeypatch.setattr(ship, "compile_apart", compile_some)
    monkeypatch.setattr(ship, "shipped_kernels", lambda: two)
    monkeypatch.setattr(ship, "usable_cores", lambda: 1)
    with pytest.raises(KeyboardInterrupt):
        ship.main([])
    assert len(json.loads((tmp_path / MANIFEST).read_text())["kernels"]) == most
    most = 100
    assert ship.main([]) == 0
    assert sorted(compiled) == sorted(names), "each of them once"


def test_an_option_that_there_is_not_compiles_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert ship.main(["--chek"]) == 2
    assert "usage:" in capsys.readouterr().err


def test_files_of_earlier_kernels_are_deleted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ship, "FOLDER", tmp_path)
    (tmp_path / "earlier.spirv.xz").write_bytes(b"")
    made = [({"file": "one.spirv.xz"}, b"code")]
    ship._write({"kernels": [made[0][0]]}, made)
    assert {path.name for path in tmp_path.iterdir()} == {MANIFEST, "one.spirv.xz"}
    assert lzma.decompress((tmp_path / "one.spirv.xz").read_bytes()) == b"code"


def test_names_are_no_code() -> None:
    module = lzma.decompress((FOLDER / "chain-narrow-2.spirv.xz").read_bytes())
    body = list(instructions(module))
    first = next(place for place, one in enumerate(body) if one.code == Op.NAME)
    renamed = [*body[:first], Instruction(Op.NAME, (body[first].operands[0], 0x61)), *body[first + 1 :]]
    other = [*body[:first], *(one for one in body[first:] if one.code != Op.STORE)]
    assert same_but_for_names(module, module_of(header(module), renamed))
    assert not same_but_for_names(module, module_of(header(module), other))
    longer = [
        Instruction(code, (*operands[:2], *_LONG, *operands[2:]))
        if code == Op.DECORATE and operands[1] == 41
        else Instruction(code, operands)
        for code, operands in body
    ]
    assert same_but_for_names(module, rename_entry_point(module_of(header(module), longer), "long" * 40))
    code, others = (
        lzma.decompress((FOLDER / f"chain-narrow-{rounds}-general.x86_64-v3.xz").read_bytes())
        for rounds in (2, 4)
    )
    assert same_but_for_names(code, code.replace(b"NumbaEnv7syclade", b"NumbaEnv7xyclade"))
    assert not same_but_for_names(code, others)
    file = "chain-narrow-2.spirv.xz"
    there = {"versions": {}, "kernels": [{"file": file, "sha256": "one", "key": "one"}]}
    made = {"versions": {}, "kernels": [{"file": file, "sha256": "other", "key": "other"}]}
    assert differences(there, made, {file}) == [f"{file}: its names differ, its code does not"]


def test_a_kernel_of_other_sources_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = shipped_kernels()["chain-narrow-2"].kernel
    assert find_shipped(kernel, SPIRV) is not None
    monkeypatch.setattr(shipped, "digest_of", lambda _modules: "of other sources")
    assert find_shipped(kernel, SPIRV) is None


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ({"avx2", "bmi", "bmi2", "fma", "lzcnt", "movbe", "f16c"}, "x86_64-v3"),
        (set().union(*PROCESSORS.values()), "x86_64-v4"),
        ({"sse2"}, None),
    ],
)
def test_old_processors_get_what_they_can_run(
    features: set[str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from llvmlite import binding

    own_processor.cache_clear()
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: dict.fromkeys(features, True))
    assert own_processor() == expected
    own_processor.cache_clear()


def test_a_package_without_them_compiles_as_ever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shipped, "_folder", lambda: tmp_path / "absent")
    shipped._by_key.cache_clear()
    assert shipped.shipped() == []
    assert find_shipped(shipped_kernels()["chain-narrow-2"].kernel, SPIRV) is None
    shipped._by_key.cache_clear()


def test_code_for_older_processors_runs_the_same_chain(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the code of every processor level that this machine supports."""
    from llvmlite import binding

    case = Case(12, 20)
    expected = run_alone(NUMPY, case, 1, 200)
    there = {name for name, has in binding.get_host_cpu_features().items() if has}
    tried = [name for name, needed in PROCESSORS.items() if needed and needed <= there]
    for processor in tried:
        monkeypatch.setattr(machine_code, "own_processor", lambda processor=processor: processor)
        monkeypatch.setattr(machine_code, "_loaded", {})
        monkeypatch.setattr(machine_code, "_compile", lambda _kernel: pytest.fail("nothing was shipped"))
        assert_equal_chains(run_alone(Backend("native", "general"), case, 1, 200), expected)
    assert tried or platform.machine() != "x86_64"
