"""Data classes of a design: parameters, stages, resource rows and published results, all read from a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from syclade.host.ground.errors import OptionError

__all__ = [
    "RESOURCES",
    "Benchmark",
    "Component",
    "Design",
    "Device",
    "LoopReport",
    "Parameter",
    "Resources",
    "Stage",
    "problem_with",
]

RESOURCES = ("luts", "ffs", "rams", "mlabs", "dsps")


@dataclass(frozen=True)
class Resources:
    """Counts (or fractions) of a device's look-up tables, flip-flops, RAM blocks, MLABs and DSP blocks."""

    luts: float = 0.0
    ffs: float = 0.0
    rams: float = 0.0
    mlabs: float = 0.0
    dsps: float = 0.0

    def __add__(self, other: Resources) -> Resources:
        return Resources(*(getattr(self, name) + getattr(other, name) for name in RESOURCES))

    def times(self, factors: Mapping[str, float]) -> Resources:
        """Return each kind multiplied by its own factor."""
        return Resources(*(getattr(self, name) * factors[name] for name in RESOURCES))

    def relative_to(self, whole: Resources) -> Resources:
        """Return each kind as a fraction of the same kind in ``whole``; 0 where ``whole`` has none."""
        pairs = ((getattr(self, name), getattr(whole, name)) for name in RESOURCES)
        return Resources(*(part / all_ if all_ else 0.0 for part, all_ in pairs))

    def as_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {name: getattr(self, name) for name in RESOURCES}


@dataclass(frozen=True)
class LoopReport:
    """A loop in a synthesis report.

    Attributes:
        name: name of the loop, or of its kernel.
        line: line of stages.h that it begins at; None if the report names it.
        ii: initiation interval in cycles.
        depth: latency of one iteration in cycles; 0 if unknown.
    """

    name: str
    line: int | None
    ii: float
    depth: float


@dataclass(frozen=True)
class Device:
    """FPGA card: its resources, the share of its board support package, and the limit of easy routing.

    Attributes:
        name: name of the device file.
        title: usual name of the card.
        available: all resources on the chip.
        static_partition: resources that the board support package takes in every design.
        logic_limit: fraction of the look-up tables above which designs no longer route well.
        memory_kb: RAM blocks of all kinds in KB, without MLABs; 0 if unknown.
        source: source of the numbers.
    """

    name: str
    title: str
    available: Resources
    static_partition: Resources
    logic_limit: float
    memory_kb: float
    source: str


@dataclass(frozen=True)
class Parameter:
    """One number of a design.

    Attributes:
        value: the number.
        kind: ``published``, ``measured`` (by this project), ``derived``, ``assumed``, or ``set`` by a user.
        source: source of the value, or reason for the assumption.
    """

    value: float
    kind: str
    source: str


@dataclass(frozen=True)
class Stage:
    """One stage of the macro-pipeline: a pipelined loop that every chain state passes once per step.

    Attributes:
        name: name of the stage.
        kernel: name of the kernel that it belongs to.
        loops: unroll factor by loop dimension: a number, the name of a parameter, or ``all``. Dimensions are
            ``nodes``, ``cells``, ``mutations``, ``packets`` or the name of a parameter. Without loops there
            is one trip.
        ii: initiation interval in cycles: a number or the name of a parameter.
        depth: latency in cycles from a trip's start to its result, beyond the trip itself.
        streams: whether it starts with the first word of the previous stage, not when that stage is done.
        share: fraction of the steps that use it: a number or the name of a parameter.
        source: source of the numbers.
        counted: the loop by which a testbench counts it, such as ``propose: count_row``; empty if none does.
        trips: counted trips, in place of those that follow from the loops; None if nothing counted them.
    """

    name: str
    kernel: str
    loops: Mapping[str, int | str]
    ii: float | str
    depth: float
    streams: bool
    share: float | str
    source: str
    counted: str = ""
    trips: int | None = None


@dataclass(frozen=True)
class Component:
    """One row of a resource table, and its assumed scaling.

    Attributes:
        name: name of the row.
        stage: name of the stage that it belongs to, or None; the row is removed with that stage.
        resources: counts at the reference parameters.
        scale: exponents by parameter and resource: the row grows with ``(value / reference) ** exponent``.
        reference: values of the parameters for which ``resources`` holds.
        kind: as for `Parameter`.
        source: source of the numbers.
    """

    name: str
    stage: str | None
    resources: Resources
    scale: Mapping[str, Mapping[str, float]]
    reference: Mapping[str, float]
    kind: str
    source: str


@dataclass(frozen=True)
class Benchmark:
    """Published throughput of the design in ksteps/s for one input size.

    Attributes:
        cells: cells of the input.
        mutations: mutations (genes) of the input.
        modelled: throughput that its authors predicted, or None.
        measured: throughput that they measured, or None.
        source: source of the numbers.
    """

    cells: int
    mutations: int
    modelled: float | None
    measured: float | None
    source: str


@dataclass(frozen=True)
class Design:
    """A whole design. ``parameters`` holds every number that can be changed or swept.

    Attributes:
        name: name of the preset, or of the file.
        title: description in one line.
        status: ``published`` or ``model``.
        trips: size that loops run over: ``capacity`` (the size the design is built for) or ``input``.
        device: the card.
        parameters: numbers by name.
        stages: stages in the order of a step; the first sends a state from IO, the last receives it.
        components: the resource table, without the board's static partition.
        benchmarks: published results.
        sweep: values to sweep, by parameter.
        notes: assumptions as text.
        project_unroll: parameters that ``syclade export --unroll`` sets in a project.
    """

    name: str
    title: str
    status: str
    trips: str
    device: Device
    parameters: Mapping[str, Parameter]
    stages: tuple[Stage, ...]
    components: tuple[Component, ...]
    benchmarks: tuple[Benchmark, ...]
    sweep: Mapping[str, tuple[float, ...]]
    notes: tuple[str, ...]
    project_unroll: tuple[str, ...] = ()

    def value(self, name: str | float) -> float:
        """Return the value of the parameter with that name; a number stands for itself.

        Raises:
            OptionError: there is no such parameter.
        """
        if not isinstance(name, str):
            return name
        if name not in self.parameters:
            known = ", ".join(sorted(self.parameters))
            raise OptionError(f"design {self.name} has no parameter {name!r}", hint=f"it has {known}")
        return self.parameters[name].value

    @property
    def nodes_max(self) -> int:
        """Largest number of tree nodes, root included."""
        return int(self.value("n_max") - self.value("unusable_nodes"))

    @property
    def capacity(self) -> int:
        """Number of chain states in flight, c."""
        return int(self.value("capacity"))

    def changed(self, values: Mapping[str, float], source: str = "given by the user") -> Design:
        """Return the design with other parameters; ``n_max`` also sets ``cells_max``, unless that is given.

        Raises:
            OptionError: a parameter is unknown or out of range.
        """
        new = dict(values)
        if "n_max" in new:
            new.setdefault("cells_max", new["n_max"] - self.value("unusable_nodes"))
        for name, value in new.items():
            self.value(name)
            problem = problem_with(name, value)
            if problem is not None:
                raise OptionError(f"{name} of design {self.name}: {problem}", hint="give another value")
        changed = {name: Parameter(float(value), "set", source) for name, value in new.items()}
        return dataclasses.replace(self, parameters={**self.parameters, **changed})

    def without(self, stage: str) -> Design:
        """Return the design without one stage and its resources.

        Raises:
            OptionError: there is no such stage.
        """
        if stage not in {each.name for each in self.stages}:
            known = ", ".join(each.name for each in self.stages)
            raise OptionError(f"design {self.name} has no stage {stage!r}", hint=f"it has {known}")
        stages = tuple(each for each in self.stages if each.name != stage)
        components = tuple(each for each in self.components if each.stage != stage)
        return dataclasses.replace(self, stages=stages, components=components)


_MAY_BE_ZERO = {"unusable_nodes", "meta_packets", "ring_depth", "loop_overhead", "acceptance"}
_NOT_WHOLE = {"clock_mhz", "ring_depth", "loop_overhead", "acceptance"}
_LARGEST = 1e9


def problem_with(name: str, value: float) -> str | None:
    """Return the reason why a parameter cannot have a value, or None if it can."""
    if not 0 <= value <= _LARGEST:
        return f"{value:g} is not between 0 and {_LARGEST:g}"
    if value == 0 and name not in _MAY_BE_ZERO:
        return "it must be greater than 0"
    if name not in _NOT_WHOLE and value != int(value):
        return f"{value:g} is not a whole number"
    if name == "acceptance" and value > 1:
        return f"{value:g} is more than 1"
    return None
