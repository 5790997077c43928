"""Run the pipeline on an FPGA or its emulator, and compare the states with the golden vectors.

    python run_pipeline.py [--states C]... [--trace] [--binary FILE.aocx] [--platform NAME] [--timeout S]
                           [--newick FILE]

Needs numpy, an OpenCL loader (libOpenCL.so.1) and the emulator or the card's driver. Drivers that came as
Python packages (intel-opencl-fpga-emu-rt) are found; others as OpenCL finds them. Prints a report as JSON.
Exit status: 0 if all states are as expected, 1 if one differs, 2 for an error, also if a run does not end.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import struct
import sys
import threading
import time
from importlib import metadata
from pathlib import Path
from typing import Any

STAGES = ("propose", "find_parent", "tree_update", "score_mapping", "reduction")
KERNELS = 1 + len(STAGES)
MOST_THREADS = "DPCPP_CPU_NUM_CUS"
TBB_CREATE = "_ZN3tbb6detail2r16createERNS0_2d114global_controlE"
MOST_EVENTS, MOST_LOOPS = 1 << 16, 64
ACCELERATOR, COPY_IN = 1 << 3, 1 << 0 | 1 << 5
PLATFORM_NAME, DEVICE_NAME, DRIVER_VERSION, BUILD_LOG = 0x0902, 0x102B, 0x102D, 0x1183


def main() -> int:
    """Run with the options of the command line, and return the exit status."""
    parser = argparse.ArgumentParser(description="Run the pipeline, and compare it with the golden vectors.")
    parser.add_argument("--states", type=int, action="append", help="chain states in flight; may be repeated")
    parser.add_argument(
        "--trace", action="store_true", help="count trips of loops, and stages at once (emulator)"
    )
    parser.add_argument("--binary", type=Path, help="image for a card, made of pipeline.cl by aoc")
    parser.add_argument("--platform", default="FPGA", help="part of the platform's name")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds after which a run has failed")
    parser.add_argument("--newick", type=Path, help="write the best tree of the last run to this file")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="the exported folder")
    options = parser.parse_args()
    try:
        report = run(options)
    except Exception as error:
        print(f"run_pipeline: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2))
    return 0 if report["as_expected"] else 1


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Run the golden inference for each number of states in flight, and return the report."""
    if options.trace and options.binary:
        raise ValueError("--trace is for the emulator, which compiles pipeline.cl")
    sizes = dict(re.findall(r"#define (\w+) (\d+)", (options.folder / "parameters.h").read_text("utf-8")))
    most = int(sizes["STATES"])
    counts = options.states or [1, most]
    if not all(1 <= count <= most for count in counts):
        raise ValueError(f"STATES in parameters.h allows 1 to {most} states in flight")
    vectors = read_vectors(options.folder / "vectors.bin")
    chains, steps = vectors.pop("run").tolist()
    expected = {name[9:]: vectors.pop(name) for name in list(vectors) if name.startswith("expected_")}
    device = Device(options.platform, options.folder, options.binary, options.trace)
    runs, found = [], vectors
    for count in counts:
        found = {name: array.copy() for name, array in vectors.items()}
        seconds = device.run_io(chains, count, found, options.timeout)
        wrong = [name for name, array in expected.items() if (found[name] != array).any()]
        runs.append(
            {
                "states": count,
                "as_expected": not wrong,
                "wrong": wrong,
                "seconds": seconds,
                "steps_per_second": chains * steps / seconds,
                **(device.traced(count) if options.trace else {}),
            }
        )
    if options.newick:
        options.newick.write_text(best_tree(found, int(sizes["NODES"])), encoding="utf-8")
    return {
        "lines": lines_of_loops(options.folder),
        **{name.lower(): int(sizes[name]) for name in ("NODES", "WORDS", "CELLS", "UNROLL")},
        "as_expected": all(one["as_expected"] for one in runs),
        "chains": chains,
        "steps": steps,
        "runs": runs,
        "device": device.text(DEVICE_NAME),
        "driver": device.text(DRIVER_VERSION),
    }


def read_vectors(path: Path) -> dict[str, Any]:
    """Return the blocks of a file by name, in order: int64, or uint64 for bits."""
    import numpy as np

    content, blocks, at = path.read_bytes(), {}, 0
    while at < len(content):
        name, count = struct.unpack_from("<32sQ", content, at)
        at += 40
        blocks[name.rstrip(b"\0").decode()] = np.frombuffer(content, "<i8", count, at).copy()
        at += 8 * count
    return blocks


def best_tree(states: dict[str, Any], nodes: int) -> str:
    """Return the best tree of all chains in Newick format; mutations are 1, 2, … in the order of the matrix.

    Of equal scores, the lowest chain counts. Row y of an ancestor matrix has the ancestors of y, y included:
    the row of its parent is row y without bit y.
    """
    scores = states["best_score"].tolist()
    root = int(states["parameters"][0])
    words = states["best_ancestors"].reshape(len(scores), -1, nodes)[scores.index(max(scores))]
    rows = [
        sum(int(word) << (64 * at) for at, word in enumerate(words[:, node].view("u8")))
        for node in range(root + 1)
    ]
    node_of = {row: node for node, row in enumerate(rows)}
    children: dict[int, list[int]] = {}
    for node in range(root):
        children.setdefault(node_of[rows[node] & ~(1 << node)], []).append(node)

    texts: dict[int, str] = {}
    for node in sorted(range(root + 1), key=lambda node: -rows[node].bit_count()):  # the deepest first
        below = ",".join(texts[child] for child in children.get(node, ()))
        texts[node] = (f"({below})" if below else "") + (str(node + 1) if node < root else "root")
    return texts[root] + ";\n"


def lines_of_loops(folder: Path) -> dict[str, int]:
    """Return the names of the loops that a compiler pipelines, with the line of stages.h that counts each."""
    lines = (folder / "stages.h").read_text(encoding="utf-8").splitlines()
    found = {at: re.match(r"\s+ITERATION\((\w+),", line) for at, line in enumerate(lines, 1)}
    return {match[1]: at for at, match in found.items() if match}


class Device:
    """The pipeline, built for the first accelerator of a platform.

    Args:
        platform: part of the platform's name.
        folder: has pipeline.cl.
        binary: image to load instead of compiling; None to compile.
        trace: whether stages count and note what they do.
    """

    def __init__(self, platform: str, folder: Path, binary: Path | None, trace: bool) -> None:
        self.cl = load_opencl()
        self.code = ctypes.c_int(0)
        self.loops = list(lines_of_loops(folder))
        self.device = self._find(platform)
        self.context = self._made("clCreateContext", None, 1, self._ref(self.device), None, None)
        self.program = self._load(binary) if binary else self._compile(folder, trace)
        self.queue = self._made("clCreateCommandQueue", self.context, self.device, ctypes.c_ulong(0))

    def _find(self, wanted: str) -> ctypes.c_void_p:
        """Return the accelerator of the first platform whose name has this part."""
        count = ctypes.c_uint(0)
        self.cl.clGetPlatformIDs(0, None, ctypes.byref(count))
        platforms = (ctypes.c_void_p * count.value)()
        self.cl.clGetPlatformIDs(count, platforms, None)
        names = []
        for platform in map(ctypes.c_void_p, platforms):
            name = ctypes.create_string_buffer(1000)
            self.cl.clGetPlatformInfo(platform, PLATFORM_NAME, ctypes.c_size_t(1000), name, None)
            names.append(name.value.decode())
            device = ctypes.c_void_p()
            kind = ctypes.c_ulong(ACCELERATOR)
            if (
                wanted in names[-1]
                and self.cl.clGetDeviceIDs(platform, kind, 1, ctypes.byref(device), None) == 0
            ):
                return device
        raise RuntimeError(
            f"no platform named {wanted} has an accelerator; there are: {', '.join(names) or 'none'}"
        )

    def _compile(self, folder: Path, trace: bool) -> ctypes.c_void_p:
        """Compile pipeline.cl, which the emulator does and a card cannot."""
        source = inlined(folder, "pipeline.cl").encode()
        text, length = ctypes.c_char_p(source), ctypes.c_size_t(len(source))
        program = self._made("clCreateProgramWithSource", self.context, 1, self._ref(text), self._ref(length))
        return self._built(program, b"-DEMULATOR" + (b" -DTRACE -cl-std=CL2.0" if trace else b""))

    def _load(self, binary: Path) -> ctypes.c_void_p:
        """Load an image that was compiled offline."""
        content = binary.read_bytes()
        text, length = ctypes.c_char_p(content), ctypes.c_size_t(len(content))
        given = (1, self._ref(self.device), self._ref(length), self._ref(text), None)
        return self._built(self._made("clCreateProgramWithBinary", self.context, *given), b"")

    def _built(self, program: ctypes.c_void_p, options: bytes) -> ctypes.c_void_p:
        if self.cl.clBuildProgram(program, 1, self._ref(self.device), options, None, None):
            log = ctypes.create_string_buffer(1 << 16)
            self.cl.clGetProgramBuildInfo(
                program, self.device, BUILD_LOG, ctypes.c_size_t(1 << 16), log, None
            )
            raise RuntimeError(f"the program does not compile: {log.value.decode()[:2000]}")
        return program

    def run_io(self, chains: int, states: int, arrays: dict[str, Any], timeout: float) -> float:
        """Run all chains, copy the arrays back, and return the seconds of the run."""
        numbers = [ctypes.c_ulong(chains), ctypes.c_ulong(states)]
        started = time.perf_counter()
        self._run("io_process", [*numbers, *arrays.values()], timeout)
        return time.perf_counter() - started

    def traced(self, states: int) -> dict[str, Any]:
        """Return trips and iterations in a step (for one state in flight), and stages at once."""
        import numpy as np

        out = np.zeros(9 + MOST_EVENTS + 8 * (MOST_LOOPS + 4), dtype=np.uint64)
        self._run("report", [out], 60.0)
        events = out[9 : 9 + int(out[0])].tolist()
        at_once, seen = 0, []
        for event in events:
            at_once += -1 if event % 2 else 1
            seen += [] if event % 2 else [at_once]
        trips = dict(zip(STAGES, out[2:7].tolist(), strict=True)) if states == 1 else None
        counted = self._iterations(out[9 + MOST_EVENTS :].tolist()) if states == 1 else {}
        mean, most = sum(seen) / max(1, len(seen)), max(seen, default=0)
        return {"trips": trips, **counted, "stages_at_once": mean, "most_stages_at_once": most}

    def _iterations(self, counts: list[int]) -> dict[str, dict[str, dict[str, int]]]:
        """Return the iterations of each process's loops in its last step, in their order."""
        loops, longest = {}, {}
        for number, process in enumerate(("io", *STAGES)):
            own = counts[number * MOST_LOOPS : (number + 1) * MOST_LOOPS]
            of_stage = {name: count for name, count in zip(self.loops, own, strict=False) if count}
            received, sent, *most = counts[8 * MOST_LOOPS + 4 * number :][:4]
            loops[process] = {"receive": received, **of_stage, "send": sent}
            longest[process] = dict(zip(("receive", "send"), most, strict=True))
        return {"loops": loops, "longest_transfer": longest}

    def _run(self, name: str, arguments: list[Any], timeout: float) -> None:
        """Run a kernel on numbers and arrays, and copy the arrays back."""
        kernel = self._made("clCreateKernel", self.program, name.encode())
        buffers = []
        for index, given in enumerate(arguments):
            value = given
            if not isinstance(given, ctypes.c_ulong):
                address, size = ctypes.c_void_p(given.ctypes.data), ctypes.c_size_t(given.nbytes)
                value = self._made("clCreateBuffer", self.context, ctypes.c_ulong(COPY_IN), size, address)
                buffers.append((value, size, address))
            size_of = ctypes.c_size_t(ctypes.sizeof(value))
            self._checked("clSetKernelArg", kernel, index, size_of, self._ref(value))
        one = ctypes.c_size_t(1)
        sizes = (self._ref(one), self._ref(one))
        self._checked("clEnqueueNDRangeKernel", self.queue, kernel, 1, None, *sizes, 0, None, None)
        waiting = threading.Thread(target=self._checked, args=("clFinish", self.queue), daemon=True)
        waiting.start()
        waiting.join(timeout)
        if waiting.is_alive():
            raise TimeoutError(
                f"{name} has not ended after {timeout:g} s: the pipeline stands still, or is slow"
            )
        for buffer, size, address in buffers:
            given = (buffer, 1, ctypes.c_size_t(0), size, address, 0, None, None)
            self._checked("clEnqueueReadBuffer", self.queue, *given)

    def text(self, what: int) -> str:
        """Return what the driver says of the device."""
        found = ctypes.create_string_buffer(1000)
        self.cl.clGetDeviceInfo(self.device, what, ctypes.c_size_t(1000), found, None)
        return found.value.decode().strip()

    def _ref(self, value: Any) -> Any:
        return ctypes.byref(value)

    def _made(self, function: str, *arguments: Any) -> ctypes.c_void_p:
        """Call a function that returns an object, and reports its error in the last argument."""
        called = getattr(self.cl, function)
        called.restype = ctypes.c_void_p
        made = called(*arguments, ctypes.byref(self.code))
        if self.code.value or not made:
            raise RuntimeError(f"{function} failed with {self.code.value}")
        return ctypes.c_void_p(made)

    def _checked(self, function: str, *arguments: Any) -> None:
        code = getattr(self.cl, function)(*arguments)
        if code:
            raise RuntimeError(f"{function} failed with {code}")


def inlined(folder: Path, name: str) -> str:
    """Return a source with the files of the folder that it includes."""

    def content(found: re.Match[str]) -> str:
        return inlined(folder, found[1])

    text = (folder / name).read_text(encoding="utf-8")
    return re.sub(r'^#include "(.+)"$', content, text, flags=re.MULTILINE)


def load_opencl() -> Any:
    """Return the OpenCL loader; one that came as a Python package needs to be told where drivers are."""
    os.environ.setdefault("CL_CONFIG_CHANNEL_DEPTH_EMULATION_MODE", "strict")
    os.environ.pop(MOST_THREADS, None)  # with fewer threads than kernels, the pipeline stands still
    files: dict[str, str] = {}
    for package in ("intel-cmplr-lib-rt", "intel-opencl-rt", "intel-opencl-fpga-emu-rt", "tbb"):
        try:
            found = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        files |= {file.name: str(Path(str(file.locate())).resolve()) for file in found}
    allow_threads(files.get("libtbb.so.12"))
    for name in ("libintlc.so.5", "libimf.so", "libsvml.so", "libirng.so"):
        if name in files:
            ctypes.CDLL(files[name], ctypes.RTLD_GLOBAL)
    if "libintelocl_emu.so" in files:
        os.environ.setdefault("OCL_ICD_FILENAMES", files["libintelocl_emu.so"])
    return ctypes.CDLL(files.get("libOpenCL.so.1", "libOpenCL.so.1"))


def allow_threads(library: str | None) -> None:
    """Let the emulator run a thread for every kernel, also where there are fewer cores.

    The emulator takes its threads from TBB, which by default has as many as there are cores. This is
    `tbb::global_control(max_allowed_parallelism, 2 * KERNELS)`, kept until the process ends.
    """
    if library is None or len(os.sched_getaffinity(0)) > KERNELS:
        return
    create = getattr(ctypes.CDLL(library, ctypes.RTLD_GLOBAL), TBB_CREATE)
    create(ctypes.byref(_control))


class _Control(ctypes.Structure):
    """A `tbb::global_control`."""

    _fields_ = (("value", ctypes.c_size_t), ("reserved", ctypes.c_ssize_t), ("parameter", ctypes.c_int))


_control = _Control(2 * KERNELS, 0, 0)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # autorun kernels never end
