"""CMake files for oneAPI and Tcl projects for Vitis HLS: what they ask the vendors' programs to do.

Programs of the same names stand in for them: for icpx one that calls g++ with the headers' stand-ins.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands.export.hls.projects import export, needs_compiler

STUBS = Path(__file__).parent / "stubs" / "oneapi"

PIPELINE = ("--mutations", "5", "--cells", "6", "--states", "3", "--steps", "5")
COLUMNS = ("--tails", "--columns", "3", "--block", "9", "--unroll", "2")

ICPX = f"""#!/bin/bash
echo "$*" >> "$ICPX_CALLS"
given=() output='' last='' settings=()
for word in "$@"; do
    [ "$last" = -o ] && output=$word
    last=$word
    case $word in -c|-D*|-I*|-std=*|*.cpp) settings+=("$word") ;; esac
    case $word in -fsycl*|-fintelfpga|-Xs*|-fp-model=*) ;; *) given+=("$word") ;; esac
done
# The three targets of hardware compile the same code, which takes seconds.
kept=$ICPX_CALLS.$(echo "${{settings[@]}}" | cksum | cut -d ' ' -f 1).o
if [[ " $* " == *" -c "* && -e $kept ]]; then exec cp "$kept" "$output"; fi
g++ -pthread -I{STUBS} "${{given[@]}}" -O0 || exit  # the last level counts: only the small emulation runs
if [[ " $* " == *" -c "* ]]; then cp "$output" "$kept"; fi
"""


@needs_compiler
@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
@pytest.mark.parametrize("project", [PIPELINE, COLUMNS], ids=["pipeline", "columns"])
def test_targets_of_cmake(project: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulator's target runs; the code of all others compiles, and is linked with the flags they need."""
    export(tmp_path / "p", "--hls", "oneapi", *project)
    (tmp_path / "bin").mkdir()
    icpx, calls = tmp_path / "bin" / "icpx", tmp_path / "calls"
    icpx.write_text(ICPX)
    icpx.chmod(0o755)
    monkeypatch.setenv("PATH", f"{icpx.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("ICPX_CALLS", str(calls))
    monkeypatch.delenv("CXX", raising=False)
    build = tmp_path / "build"
    run("cmake", "-S", str(tmp_path / "p"), "-B", str(build), "-DFPGA_DEVICE=Stratix10")
    for target, flags in {
        "fpga_emu": set(),
        "report": {"-Xshardware", "-Xstarget=Stratix10", "-fsycl-link=early"},
        "fpga_sim": {"-Xssimulation", "-Xstarget=Stratix10"},
        "fpga": {"-Xshardware", "-Xstarget=Stratix10"},
    }.items():
        calls.unlink(missing_ok=True)
        run("cmake", "--build", str(build), "--target", target)
        compiled, linked = (set(call.split()) for call in calls.read_text().splitlines())
        assert {"-fsycl", "-fintelfpga", "-O2", "-c"} <= compiled
        assert {word for word in linked if word.startswith(("-X", "-fsycl-"))} == flags
        assert ("-fp-model=precise" in compiled) == (project is COLUMNS)
    done = run(str(build / "fpga_emu"), cwd=tmp_path / "p")
    assert json.loads(done)["as_expected"] is True


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a command that must succeed, and return what it prints."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("project", "name"), [(PIPELINE, "pipeline"), (COLUMNS, "columns")], ids=["pipeline", "columns"]
)
def test_the_project_of_vitis(
    project: tuple[str, ...], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script is valid Tcl; it adds files that there are, simulates, synthesises and exports."""
    tkinter = pytest.importorskip("tkinter")
    export(tmp_path / "p", "--hls", "vitis", *project)
    monkeypatch.setenv("PART", "xc7z020-clg400-1")
    monkeypatch.delenv("PERIOD", raising=False)
    interpreter, calls = tkinter.Tcl(), []
    for command in (
        "open_project", "set_top", "add_files", "open_solution", "set_part", "create_clock", "csim_design",
        "csynth_design", "export_design", "exit",
    ):  # fmt: skip
        interpreter.createcommand(command, lambda *words, command=command: calls.append((command, *words)))
    interpreter.eval((tmp_path / "p" / "project.tcl").read_text())
    assert [call[0] for call in calls][-4:] == ["csim_design", "csynth_design", "export_design", "exit"]
    assert ("set_top", name) in calls
    assert ("set_part", "xc7z020-clg400-1") in calls
    assert ("create_clock", "-period", "3.33") in calls
    added = [word for call in calls if call[0] == "add_files" for word in call[1:] if "." in word]
    assert added == [f"{name}.cpp", f"{name}.cpp", "vectors.bin"]
    assert all((tmp_path / "p" / path).is_file() for path in added)
    header = (tmp_path / "p" / f"{name}.h").read_text()
    assert f"void {name}(" in header
