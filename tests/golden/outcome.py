"""Run a golden run, and collect its files and the standard output of the last command."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from pathlib import Path
from typing import Any

from syclade.host.device.choice import choose_device
from tests.golden.commands import call, call_apart, stop_when_kept
from tests.golden.inputs import Inputs
from tests.golden.run import Run

__all__ = ["NOT_COMPARED", "Outcome", "carry_out", "check_executors", "text_without_times"]

NOT_COMPARED = ("run.json",)
"""Files that differ between equal runs, by device, times and date."""

OWN_KEYS = ("run", "version", "matrix", "true")
"""Keys of printed or written JSON that differ between equal runs, versions or paths of the input."""

WORDS_ONLY = ("convert", "simulate")
"""Commands whose standard output without --json is only a message about the written files."""

TIMES = re.compile(r"^Time elapsed: .*$", re.MULTILINE)
PLACEHOLDER = re.compile(r"\{(?:(matrix):)?([\w-]+)\}")

Outcome = dict[str, Any]
"""Text, or the values of JSON, by file name (and `standard output`)."""


def carry_out(
    run: Run, device: str, folder: Path, inputs: Inputs, *, more: str = "", whole: bool = False
) -> Outcome:
    """Return the outcome of a run.

    Args:
        run: the run.
        device: the device; a run that is to be stopped starts on native, and is resumed on this device.
        folder: an empty folder; relative paths of the commands are in it.
        inputs: the matrices.
        more: further options of the last command, for controls.
        whole: whether a run that is to be stopped runs to its end instead.
    """
    lines = list(run.commands)
    lines[-1] += f" {more}"
    given = None if run.given is None else inputs.matrix(run.given)
    with contextlib.chdir(folder):
        if run.stopped is not None and not whole:
            begun = lines[0].replace("--out out", "")
            words = _words(f"{begun} --checkpoint kept --checkpoint-every 0", "native", inputs)
            stop_when_kept(words, folder / "kept", run.stopped, run.checkpoints)
            lines = [f"{lines[0]} --resume kept --checkpoint kept"]
        for line in lines:
            words = _words(line, device, inputs)
            if any(
                word.startswith("out/") for word in words
            ):  # files in a folder, which is not made for them
                (folder / "out").mkdir(exist_ok=True)
            called = call(words) if given is None else call_apart(words, given)
            assert called.status == 0, f"{run.name} ended with status {called.status}: {called.messages}"
        check_executors(folder / "out" / "run.json", device)
    files = {path.name: path for path in sorted((folder / "out").glob("*")) if path.name not in NOT_COMPARED}
    found = {
        name: _content(path.read_text(encoding="utf-8"), name.endswith(".json"))
        for name, path in files.items()
    }
    if "--json" in lines[-1] or not lines[-1].startswith(WORDS_ONLY):
        found["standard output"] = _content(called.output, "--json" in lines[-1])
    return found


def check_executors(run_file: Path, device: str) -> None:
    """Fail if a device other than the checked one did some of the work."""
    if not run_file.exists():
        return
    work = json.loads(run_file.read_text(encoding="utf-8"))["work"]
    used = {one["device"] for one in work}
    assert used <= {choose_device(device).filter}, f"{device} was to be checked, and {used} did the work"


def text_without_times(text: str) -> str:
    """Remove the time from SCITE's line of the elapsed time."""
    return TIMES.sub("Time elapsed", text)


def _words(line: str, device: str, inputs: Inputs) -> list[str]:
    """Split a command line, and fill in its placeholders."""

    def fill(found: re.Match[str]) -> str:
        if found[1]:
            return str(inputs.matrix(found[2]))
        if found[2] == "device":
            return device
        folder = {"forms": inputs.forms, "names": inputs.names}.get(found[2])
        return str(folder() if folder else inputs.folder(found[2]))

    return [PLACEHOLDER.sub(fill, word) for word in shlex.split(line)]


def _content(text: str, is_json: bool) -> Any:
    """Return the values of JSON without the keys of `OWN_KEYS`, or a text without times."""
    if not is_json:
        return text_without_times(text)
    values = json.loads(text)
    return {key: value for key, value in values.items() if key not in OWN_KEYS}
