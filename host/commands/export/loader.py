"""Run exported kernels on a SYCL device. Needs only dpctl, numpy and the Intel runtimes.

    python load_design.py [--device cpu|fpga-emu|FILTER] [--kernels chain_steps|stages]
    python load_design.py [--device cpu|fpga-emu|FILTER] [--kernels grouped|tilted|blocked]

Reads manifest.json, problem.npz and the SPIR-V beside it, runs every chain, or computes the tail of every
column, and prints the results as JSON.
Exit status: 0 if the results are those that manifest.json expects, 1 if they differ, 2 for an error.

This is one file, so that it can be read from top to bottom and rewritten for another host. Known to work with
dpctl 0.17.0 (numpy 1.26, runtimes 2024.2.2) and 0.21.1 (numpy 2, emulator and CPU runtime 2025.0.5).
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import io
import json
import os
import re
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from types import ModuleType

    from dpctl import SyclQueue
    from dpctl.memory import MemoryUSMDevice
    from dpctl.program import SyclKernel
    from numpy.typing import NDArray

Entry: TypeAlias = "dict[str, Any]"
"""An object of manifest.json."""

Array: TypeAlias = "NDArray[Any]"
"""Argument of a kernel, whose type manifest.json has."""

Loaded: TypeAlias = "tuple[SyclKernel, int, list[object]]"
"""A kernel, the size of its work-groups, and its flat arguments."""

STEPS_A_LAUNCH = 2000
STAGES = ("propose", "find_parent", "tree_update", "score_mapping", "reduction")
CHAINS, TAILS = ("chain_steps", "stages"), ("grouped", "tilted", "blocked")
KINDS = {"cpu": "opencl:cpu:0", "fpga-emu": "opencl:accelerator:0"}


def main() -> int:
    """Run the kernels with the options of the command line, and return the exit status."""
    parser = argparse.ArgumentParser(description="Run the exported kernels on a SYCL device.")
    parser.add_argument("--device", default="cpu", help="cpu, fpga-emu or a dpctl filter string")
    parser.add_argument("--kernels", choices=(*CHAINS, *TAILS), help="by default the first of the export")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="the exported folder")
    options = parser.parse_args()
    try:
        report = run(options.folder, KINDS.get(options.device, options.device), options.kernels)
    except Exception as error:
        print(f"load_design: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2))
    return 0 if report["as_expected"] else 1


def run(folder: Path, device: str, kernels: str | None) -> Entry:
    """Run all chains, or compute all tails, and return the report."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    problem = manifest["problem"]
    own, run_kernels = (TAILS, run_tails) if "columns" in problem else (CHAINS, run_chains)
    if kernels not in (None, *own):
        raise ValueError(f"this export has the kernels {', '.join(own)}")
    dpctl = start()
    import numpy as np

    with np.load(io.BytesIO(checked(folder, problem)), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    queue = dpctl.SyclQueue(device)
    return {
        **run_kernels(folder, manifest, queue, arrays, kernels or own[0]),
        "device": queue.sycl_device.name.strip(),
        "driver": queue.sycl_device.driver_version,
        "dpctl": dpctl.__version__,
        "numpy": np.__version__,
    }


def run_chains(
    folder: Path, manifest: Entry, queue: SyclQueue, arrays: dict[str, Array], kernels: str
) -> Entry:
    """Run all chains by the kernel of whole steps, or by the stages, and return the report."""
    problem, described = manifest["problem"], manifest["kernels"]
    symbols = {**sizes_of(arrays, described), **manifest["constants"]}
    design = Design(folder, described, queue, len(arrays["chain"]), arrays, symbols)
    names = STAGES if kernels == "stages" else (kernels,)
    started = time.perf_counter()
    loaded = [design.load(name) for name in names]
    ready = time.perf_counter()
    advance(design, loaded, problem["steps"])
    ended = time.perf_counter()
    found = results(design, problem)
    return {
        "as_expected": found == problem["expected"],
        **found,
        "log_likelihood": problem["base"] + max(found["best_scores"]) * problem["unit"],
        "kernels": list(names),
        "steps": problem["steps"],
        "load_seconds": ready - started,
        "seconds": ended - ready,
    }


def run_tails(
    folder: Path, manifest: Entry, queue: SyclQueue, arrays: dict[str, Array], kernels: str
) -> Entry:
    """Compute ln P(X >= K) of all columns, one column in each slot, and return the report."""
    problem, prefix = manifest["problem"], f"{kernels}."
    own = {name.removeprefix(prefix): of for name, of in arrays.items() if name.startswith(prefix)}
    described = [one for one in manifest["kernels"] if one["name"] == f"tails_{kernels}"]
    design = Design(folder, described, queue, problem["columns"], own, problem["sizes"][kernels])
    loaded = design.load(f"tails_{kernels}")
    started = time.perf_counter()
    design.launch(*loaded)
    ended = time.perf_counter()
    found = design.read("log_tail").tolist()
    return {
        "as_expected": found == problem["expected"][kernels],
        "log_tails": found,
        "kernels": [kernels],
        "columns": problem["columns"],
        "seconds": ended - started,
    }


def sizes_of(arrays: dict[str, Array], kernels: list[Entry]) -> dict[str, int]:
    """Return the sizes that the symbols in the arguments' shapes have in the arrays."""
    described = [one for kernel in kernels for one in kernel["arguments"] if one["name"] in arrays]
    return {
        part: size
        for one in described
        for part, size in zip(one["shape"], arrays[one["name"]].shape, strict=True)
        if isinstance(part, str)
    }


class Design:
    """The kernels' arguments in device memory, and the launches.

    Args:
        folder: the exported folder.
        kernels: the manifest's descriptions of the kernels.
        queue: a queue of the device.
        slots: number of slots.
        arrays: contents of arguments, by name; others are zeros.
        symbols: sizes of arrays, by the symbols in their shapes.
    """

    def __init__(
        self,
        folder: Path,
        kernels: list[Entry],
        queue: SyclQueue,
        slots: int,
        arrays: dict[str, Array],
        symbols: dict[str, int],
    ) -> None:
        import numpy as np

        self.folder = folder
        self.queue = queue
        self.slots = slots
        self.kernels = {kernel["name"]: kernel for kernel in kernels}
        self.memory: dict[str, MemoryUSMDevice] = {}
        self.arrays: dict[str, Array] = {}
        symbols = symbols | {"slots": slots}
        for kernel in kernels:
            for argument in kernel["arguments"]:
                name = argument["name"]
                if name not in self.memory:
                    shape = [symbols.get(part, part) for part in argument["shape"]]
                    values = arrays.get(name, np.zeros(shape, argument["type"]))
                    if list(values.shape) != shape or str(values.dtype) != argument["type"]:
                        raise ValueError(f"problem.npz: {name} is {values.dtype} {values.shape}")
                    self._allocate(name, values)

    def _allocate(self, name: str, values: Array) -> None:
        import dpctl.memory

        self.arrays[name] = values
        self.memory[name] = dpctl.memory.MemoryUSMDevice(values.nbytes, queue=self.queue)
        self.write(name, values)

    def write(self, name: str, values: Array) -> None:
        """Copy an array to the device."""
        import numpy as np

        self.memory[name].copy_from_host(np.ascontiguousarray(values).reshape(-1).view(np.uint8))

    def read(self, name: str) -> Array:
        """Copy an array from the device."""
        import numpy as np

        like = self.arrays[name]
        raw = self.memory[name].copy_to_host()
        return np.frombuffer(raw, like.dtype, like.size).reshape(like.shape)

    def load(self, name: str) -> Loaded:
        """Return a kernel, the size of its work-groups, and its flat arguments.

        There are five flat arguments per array (manifest.json).
        """
        import dpctl.program

        described = self.kernels[name]
        program = dpctl.program.create_program_from_spirv(self.queue, checked(self.folder, described))
        flat: list[object] = []
        for argument in described["arguments"]:
            values = self.arrays[argument["name"]]
            sizes = (ctypes.c_longlong(values.size), ctypes.c_longlong(values.itemsize))
            flat += [*sizes, self.memory[argument["name"]], *sizes]
        return program.get_sycl_kernel(described["entry_point"]), described["work_size"]["local"][0], flat

    def launch(self, kernel: SyclKernel, lanes: int, flat: list[object]) -> None:
        """Launch a kernel once, with one work-group per slot, and wait for it."""
        self.queue.submit(kernel, flat, [self.slots * lanes], [lanes]).wait()


def advance(design: Design, kernels: list[Loaded], steps: int) -> None:
    """Take every chain to its last step: chain_steps does many per launch, the stages together one."""
    import numpy as np

    length = STEPS_A_LAUNCH if len(kernels) == 1 else 1
    for done in range(0, steps, length):
        if len(kernels) == 1:  # the stages use the last_step of problem.npz
            design.write("last_step", np.full(design.slots, min(done + length, steps), np.int64))
        for kernel in kernels:
            design.launch(*kernel)


def results(design: Design, problem: Entry) -> Entry:
    """Return the best score of every chain, and the best tree of all; ties go to the lowest chain.

    If rates are learned, they are given as points of their grids.
    """
    scores = design.read("best_score").tolist()
    best = scores.index(max(scores))
    found = {
        "best_scores": scores,
        "parents": parents_of(design.read("best_ancestors")[best], problem["mutations"] + 1),
    }
    if "best_rate_at" in design.arrays:
        found["rates_at"] = design.read("best_rate_at")[best].tolist()
    return found


def parents_of(matrix: Array, nodes: int) -> list[int]:
    """Return the parent vector of an ancestor matrix.

    The parent of y is the node whose row is y's without the bit of y. The root is last and its own parent.
    """
    rows = [sum(int(word) << (64 * k) for k, word in enumerate(matrix[:, node])) for node in range(nodes)]
    owner = {row: node for node, row in enumerate(rows)}
    return [owner[rows[node] & ~(1 << node)] for node in range(nodes - 1)] + [nodes - 1]


def checked(folder: Path, entry: Entry) -> bytes:
    """Return a file's content, if its digest is that of the manifest: a damaged module may crash a driver."""
    content = Path(folder, entry["file"]).read_bytes()
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ValueError(f"{entry['file']} is not the file that manifest.json describes")
    return content


# ---- start-up in a virtual environment, where the wheels find neither libraries nor drivers


def start() -> ModuleType:
    """Load libraries and register drivers, import dpctl, and make the emulator accept SPIR-V."""
    if "dpctl" not in sys.modules:
        for distribution, pattern in (
            *(("intel-cmplr-lib-rt", name) for name in ("libintlc.so.5", "libimf.so", "libsvml.so")),
            ("intel-cmplr-lib-rt", "libirng.so"),
            ("intel-opencl-rt", "libOpenCL.so.1"),
            ("intel-sycl-rt", r"libsycl\.so\.\d+"),
        ):
            for path in installed(distribution, pattern)[:1]:
                ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        drivers = installed("intel-opencl-rt", "libintelocl.so") + emulator()
        os.environ.setdefault("OCL_ICD_FILENAMES", ":".join(drivers))
    import dpctl

    let_emulator_take_spirv()
    module: ModuleType = dpctl
    return module


def installed(distribution: str, pattern: str) -> list[str]:
    """Return the paths of an installed package's libraries whose names match."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        return []
    return [str(Path(str(file.locate())).resolve()) for file in files if re.fullmatch(pattern, file.name)]


def emulator() -> list[str]:
    """Return the path of the FPGA emulator's driver, if it is installed."""
    return installed("intel-opencl-fpga-emu-rt", "libintelocl_emu.so")


def let_emulator_take_spirv() -> None:
    """Make the emulator accept SPIR-V.

    dpctl calls clCreateProgramWithIL, which the emulator refuses. Its entry in the dispatch table, found by
    address, is replaced by clCreateProgramWithILKHR, which works.
    """
    for path in emulator():
        driver, loader = ctypes.CDLL(path), ctypes.CDLL(installed("intel-opencl-rt", "libOpenCL.so.1")[0])
        refusing = ctypes.cast(driver.clCreateProgramWithIL, ctypes.c_void_p).value
        willing = ctypes.cast(driver.clCreateProgramWithILKHR, ctypes.c_void_p).value
        count = ctypes.c_uint(0)
        loader.clGetPlatformIDs(0, None, ctypes.byref(count))
        platforms = (ctypes.c_void_p * count.value)()
        loader.clGetPlatformIDs(count, platforms, None)
        for platform in platforms:
            name = ctypes.create_string_buffer(256)
            size = ctypes.c_size_t(len(name))
            loader.clGetPlatformInfo(ctypes.c_void_p(platform), 0x0902, size, name, None)
            if b"FPGA Emulation" in name.value:
                address = ctypes.c_void_p(platform)
                table = ctypes.cast(address, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
                for index in range(140):  # entries that every driver has
                    if table[index] == refusing:
                        table[index] = willing


if __name__ == "__main__":
    sys.exit(main())
