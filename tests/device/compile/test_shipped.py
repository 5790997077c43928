"""Precompiled kernels: they match their sources and run on this machine."""

from __future__ import annotations

import hashlib
import json
import lzma
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import pytest

from syclade.host.commands.ship import make as ship
from syclade.host.commands.ship.kernels import Shipped
from syclade.host.commands.ship.kernels import shipped_kernels as make_shipped_kernels
from syclade.host.commands.ship.make import (
    Compiled,
    archive_of,
    compile_apart,
    differences,
    read_archives,
    same_but_for_names,
    write_archives,
)
from syclade.host.device.compile import machine_code
from syclade.host.device.compile import precompiled as shipped
from syclade.host.device.compile.precompiled import (
    MANIFEST,
    PROCESSORS,
    PTX,
    SPIRV,
    Precompiled,
    find_shipped,
    own_processor,
)
from syclade.host.ground.errors import DeviceError
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
    there = {(entry.name, entry.made_for): entry.key for entry in shipped.shipped()}
    wanted = {
        (name, made_for): one.key(made_for)
        for name, one in shipped_kernels().items()
        for made_for in one.made_for
    }
    assert there == wanted, ANEW


def test_files_are_those_of_the_manifest() -> None:
    files = {path.name for path in FOLDER.iterdir()} - {MANIFEST}
    assert files == {entry.archive for entry in shipped.shipped()}
    kernels = shipped_kernels()
    for entry in shipped.shipped():
        assert entry.archive == archive_of(entry.name, entry.made_for)
        found = find_shipped(kernels[entry.name].kernel, entry.made_for, kernels[entry.name].near)
        assert found is not None
        assert found[0] == entry.entry_point
        assert len(found[1]) == entry.size


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("name", "made_for"),
    [
        ("ancestor-stage-score_mapping", SPIRV),  # small kernels compile in a second
        ("shares-draw", "x86_64-v4"),
        pytest.param("ancestor-stage-propose", SPIRV, marks=pytest.mark.verification),
        pytest.param("tails-grouped-native", "x86_64-v4", marks=pytest.mark.verification),
        *(
            pytest.param("chain-narrow-4-general", made_for, marks=pytest.mark.verification)
            for made_for in (SPIRV, *PROCESSORS)
        ),
    ],
)
def test_the_compiler_makes_the_same_bytes(name: str, made_for: str) -> None:
    """Compile one kernel; `python -m syclade.host.commands.ship.make --check` compares all."""
    versions = json.loads((FOLDER / MANIFEST).read_text())["versions"]
    assert ship.OTHERS.versions().items() <= versions.items(), ANEW
    (entry,) = [one for one in shipped.shipped() if (one.name, one.made_for) == (name, made_for)]
    entry_point, content = compile_apart(name, made_for)
    assert entry_point == entry.entry_point
    assert hashlib.sha256(content).hexdigest() == entry.sha256, ANEW


def test_the_check_tells_content_from_keys() -> None:
    """The check distinguishes source changes that change code from those that do not."""
    versions, there = _stored()
    first, second, third, *others = there
    made = [
        replace(first, key="of other sources"),
        replace(second, key="of other sources", content=there[-1].content),
        *others,
        replace(third, name="new"),
    ]
    assert differences(there, there, (versions, versions)) == []
    assert sorted(differences(there, made, (versions, versions | {"numba": "1.0"}))) == sorted(
        [
            f"{first.title}: its key differs, its content does not",
            f"{second.title}: its code differs",
            f"{third.title}: is not among them any more",
            f"new.{third.made_for}: is not there",
            f"numba is 1.0, and was {versions['numba']}",
        ]
    )


@pytest.fixture
def some_kernels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_cache: Path
) -> Iterator[list[tuple[str, str]]]:
    """Let `ship` make two kernels in a folder of its own; yield those that it compiles."""
    two = dict(list(shipped_kernels().items())[:2])
    compiled: list[tuple[str, str]] = []

    def compile_nothing(name: str, made_for: str) -> tuple[str, bytes]:
        compiled.append((name, made_for))
        return "entry", f"code of {name} for {made_for}".encode()

    monkeypatch.setattr(ship, "FOLDER", tmp_path / "kernels")
    monkeypatch.setattr(ship, "shipped_kernels", lambda: two)
    monkeypatch.setattr(ship, "compile_apart", compile_nothing)
    monkeypatch.setattr(ship, "usable_cores", lambda: 1)
    yield compiled
    assert list(own_cache.rglob("made/*")) == [], "kept until the archives are written"


def test_kernels_of_the_same_sources_are_not_compiled_again(
    some_kernels: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A change of some kernels costs their compile time, and their archives."""
    assert ship.main([]) == 0
    before = _files()
    all_of_them, some_kernels[:] = list(some_kernels), []
    assert ship.main([]) == 0
    assert some_kernels == []
    versions, there = read_archives(ship.FOLDER)
    there[0] = replace(there[0], key="of other sources", content=b"other code")
    write_archives(ship.FOLDER, versions, there)
    capsys.readouterr()
    assert ship.main([]) == 0
    assert some_kernels == [(there[0].name, there[0].made_for)]
    written = [line for line in capsys.readouterr().out.splitlines() if line.endswith(": written")]
    assert written == [f"{archive_of(*some_kernels[0])}: written"]
    assert {name for name, _ in before - _files()} == {MANIFEST, archive_of(*some_kernels[0])}
    some_kernels.clear()
    assert ship.main(["--all"]) == 0
    write_archives(ship.FOLDER, versions | {"numba": "1.0"}, there)
    assert ship.main([]) == 0
    assert some_kernels == all_of_them * 2


def test_kernels_of_gpus_are_made_by_themselves(
    some_kernels: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the two environments leaves the kernels of the other one as they are."""
    batched = "search-subtrees-batched-near"
    both = dict(list(shipped_kernels().items())[:1]) | {batched: shipped_kernels()[batched]}
    monkeypatch.setattr(ship, "shipped_kernels", lambda: both)
    assert ship.main([]) == 0
    of_others = {one.title: one for one in read_archives(ship.FOLDER)[1]}
    assert PTX not in {made_for for _, made_for in some_kernels}
    some_kernels.clear()
    monkeypatch.setattr(ship, "OF_GPUS", ship.OF_GPUS._replace(compilers=("pytest",)))
    assert ship.main(["--ptx"]) == 0
    assert some_kernels == [(batched, PTX)]
    versions, there = read_archives(ship.FOLDER)
    assert {one.title: one for one in there} | of_others == {one.title: one for one in there}
    assert versions.keys() == {*ship.OTHERS.compilers, "pytest"}
    some_kernels.clear()
    assert ship.main([]) == 0
    assert ship.main(["--ptx"]) == 0
    assert some_kernels == []
    assert read_archives(ship.FOLDER) == (versions, there)


def _files() -> set[tuple[str, int]]:
    """Return (name, time of the last change) of the files that `ship` has written."""
    return {(path.name, path.stat().st_mtime_ns) for path in ship.FOLDER.iterdir()}


def test_an_interrupted_run_goes_on(
    some_kernels: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_one, most = ship.compile_apart, 3

    def compile_some(name: str, made_for: str) -> tuple[str, bytes]:
        if len(some_kernels) == most:
            raise KeyboardInterrupt
        return compile_one(name, made_for)

    monkeypatch.setattr(ship, "compile_apart", compile_some)
    with pytest.raises(KeyboardInterrupt):
        ship.main([])
    most = 100
    assert ship.main([]) == 0
    there = {(kernel.name, kernel.made_for) for kernel in read_archives(ship.FOLDER)[1]}
    assert sorted(some_kernels) == sorted(there), "each of them once"


def test_archives_are_deterministic_and_replace_what_was_there(tmp_path: Path) -> None:
    kernels = [
        Compiled(f"chain-{number}", SPIRV, f"key {number}", "entry", bytes([number]) * 1000)
        for number in range(3)
    ]
    for folder in (tmp_path / "one", tmp_path / "other"):
        folder.mkdir()
        (folder / "earlier.spirv.xz").write_bytes(b"")
        assert write_archives(folder, {"numba": "1"}, kernels) == ["chain.spirv.xz"]
        assert {path.name for path in folder.iterdir()} == {MANIFEST, "chain.spirv.xz"}
        assert read_archives(folder) == ({"numba": "1"}, kernels)
    for name in (MANIFEST, "chain.spirv.xz"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    (folder / "chain.spirv.xz").write_bytes(b"damaged")
    assert read_archives(folder) == ({"numba": "1"}, [])
    (folder / MANIFEST).write_text('{"versions": {}, "kernels": [{"file": "one.xz"}]}')
    assert read_archives(folder) == ({}, [])


@pytest.mark.parametrize(
    ("name", "archive"),
    [
        ("learned-fn-4-zygosity-samples", "learned-fn-zygosity"),
        ("sum-4-guided-samples-general", "sum-guided"),
        ("chain-narrow-2", "chain-narrow"),
        ("doublets-learned-both-pairs", "doublets"),
        ("calls-baq_7-device", "calls"),
        ("chain-narrow-4-samples-cuda-near", "chain-narrow"),
    ],
)
def test_kernels_of_alike_code_share_an_archive(name: str, archive: str) -> None:
    assert archive_of(name, SPIRV) == f"{archive}.spirv.xz"


def test_no_archive_takes_long_to_reach_the_end_of() -> None:
    """SPIR-V and PTX decompress at some 300 MB/s, machine code at 100 MB/s."""
    for entry in shipped.shipped():
        assert entry.offset + entry.size < (8_500_000 if entry.made_for in (SPIRV, PTX) else 3_000_000)


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[Path, Precompiled]]:
    """Yield an archive in a folder of its own, and a kernel of it."""
    (entry,) = [one for one in shipped.shipped() if (one.name, one.made_for) == ("tails-grouped", SPIRV)]
    shutil.copy(FOLDER / entry.archive, tmp_path)
    (tmp_path / MANIFEST).write_text(json.dumps({"versions": {}, "kernels": [asdict(entry)]}))
    monkeypatch.setattr(shipped, "_folder", lambda: tmp_path)
    shipped._by_key.cache_clear()
    yield tmp_path / entry.archive, entry
    shipped._by_key.cache_clear()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), "it is damaged"),
        (lambda path: path.write_bytes(b""), "it is damaged"),
        (lambda path: path.write_bytes(b"text" * 100), "it is damaged"),
        (lambda path: path.write_bytes(lzma.compress(bytes(300_000))), "it is damaged"),
        (lambda path: path.unlink(), "No such file"),
    ],
    ids=["truncated", "empty", "text", "other", "missing"],
)
def test_a_damaged_archive_is_reported(
    damage: Callable[[Path], object], reason: str, copied: tuple[Path, Precompiled]
) -> None:
    path, entry = copied
    kernel = shipped_kernels()[entry.name].kernel
    assert find_shipped(kernel, SPIRV) is not None
    shipped._archive.cache_clear()
    damage(path)
    for _ in range(2):
        with pytest.raises(DeviceError, match=reason) as error:
            find_shipped(kernel, SPIRV)
        assert str(path) in str(error.value)
        assert "--force-reinstall" in (error.value.hint or "")


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"kernels": null}', '{"kernels": [{"name": "one"}]}'])
def test_a_damaged_manifest_is_as_none(manifest: str, copied: tuple[Path, Precompiled]) -> None:
    path, entry = copied
    (path.parent / MANIFEST).write_text(manifest)
    assert shipped.shipped() == []
    assert find_shipped(shipped_kernels()[entry.name].kernel, SPIRV) is None


@cache
def _stored() -> tuple[dict[str, str], list[Compiled]]:
    """Return the kernels of the package; unpacking them takes a second."""
    return read_archives(FOLDER)


def _content_of(name: str, made_for: str) -> bytes:
    (found,) = [one.content for one in _stored()[1] if (one.name, one.made_for) == (name, made_for)]
    return found


def test_an_option_that_there_is_not_compiles_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert ship.main(["--chek"]) == 2
    assert "usage:" in capsys.readouterr().err


def test_names_are_no_code() -> None:
    module = _content_of("chain-narrow-2", SPIRV)
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
    code, others = (_content_of(f"chain-narrow-{rounds}-general", "x86_64-v3") for rounds in (2, 4))
    assert same_but_for_names(code, code.replace(b"NumbaEnv7syclade", b"NumbaEnv7xyclade"))
    assert not same_but_for_names(code, others)
    there = Compiled("one", "x86_64-v3", "one", "entry", code)
    made = replace(there, key="other", content=code.replace(b"NumbaEnv7syclade", b"NumbaEnv7xyclade"))
    assert differences([there], [made]) == ["one.x86_64-v3: its names differ, its code does not"]


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
