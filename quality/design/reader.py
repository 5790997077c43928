"""Read designs and devices from TOML files: the presets of the package, or a user's file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from syclade.host.ground.errors import OptionError
from syclade.quality.design.model import (
    RESOURCES,
    Benchmark,
    Component,
    Design,
    Device,
    Parameter,
    Resources,
    Stage,
    problem_with,
)
from syclade.quality.design.table import DesignFileError, Table, parse_toml

__all__ = ["load_design", "load_device", "preset_names"]

KINDS = {"published", "measured", "derived", "assumed"}
REQUIRED = (
    "clock_mhz",
    "n_max",
    "unusable_nodes",
    "cells_max",
    "rows_per_packet",
    "meta_packets",
    "replication",
    "capacity",
    "ring_depth",
    "loop_overhead",
    "proposer_ii",
)
_HERE = files("syclade.quality.design")


def preset_names() -> tuple[str, ...]:
    """Return the names of the presets that come with the package, sorted."""
    return tuple(sorted(entry.name[:-5] for entry in (_HERE / "presets").iterdir() if _is_toml(entry)))


def load_design(name_or_path: str) -> Design:
    """Load a design by the name of a preset, or from a TOML file (recognised by its suffix).

    Raises:
        DesignFileError: the file cannot be read or used; the error names file and key.
        OptionError: there is no such preset.
    """
    if name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DesignFileError(f"cannot read the design: {error}", path=name_or_path) from error
        return _design(parse_toml(text, name_or_path), path.stem)
    if name_or_path not in preset_names():
        hint = f"presets: {', '.join(preset_names())}; or give a file ending in .toml"
        raise OptionError(f"there is no design preset {name_or_path!r}", hint=hint)
    file = f"{name_or_path}.toml"
    text = (_HERE / "presets" / file).read_text(encoding="utf-8")
    return _design(parse_toml(text, file), name_or_path)


def _is_toml(entry: Traversable) -> bool:
    return entry.name.endswith(".toml")


def _design(top: Table, name: str) -> Design:
    device = _device(top)
    parameters = _parameters(top.table("parameters"))
    values = {key: parameter.value for key, parameter in parameters.items()}
    stages = tuple(_stage(table, values) for table in top.tables("stage"))
    stage_names = {stage.name for stage in stages}
    if len(stage_names) < len(stages):
        top.refuse("stage", "two stages have the same name")
    components = tuple(
        _component(table, values, device, stage_names) for table in top.tables("component", optional=True)
    )
    design = Design(
        name=name,
        title=top.text("title"),
        status=top.choice("status", {"published", "model"}),
        trips=top.choice("trips", {"capacity", "input"}),
        device=device,
        parameters=parameters,
        stages=stages,
        components=components,
        benchmarks=tuple(_benchmark(table) for table in top.tables("benchmark", optional=True)),
        sweep=_sweep(top.table("sweep", optional=True), values),
        notes=top.texts("notes"),
    )
    top.finish()
    return design


def _device(top: Table) -> Device:
    name = top.text("device")
    file = _HERE / "devices" / f"{name}.toml"
    if not file.is_file():
        known = sorted(entry.name[:-5] for entry in (_HERE / "devices").iterdir() if _is_toml(entry))
        top.refuse("device", f"there is no device {name!r}", f"devices: {', '.join(known)}")
    return load_device(name)


def load_device(name: str) -> Device:
    """Return the card of a device file that comes with the package."""
    file = _HERE / "devices" / f"{name}.toml"
    table = parse_toml(file.read_text(encoding="utf-8"), file.name)
    device = Device(
        name=name,
        title=table.text("title"),
        available=_resources(table.table("available")),
        static_partition=_resources(table.table("static_partition")),
        logic_limit=table.number("logic_limit"),
        source=table.text("source"),
    )
    table.finish()
    return device


def _resources(table: Table) -> Resources:
    resources = Resources(*(table.number(name) for name in RESOURCES))
    table.finish()
    return resources


def _parameters(table: Table) -> dict[str, Parameter]:
    found = {}
    for key in table.names():
        entry = table.table(key)
        found[key] = Parameter(entry.number("value"), entry.choice("kind", KINDS), entry.text("source"))
        problem = problem_with(key, found[key].value)
        if problem is not None:
            entry.refuse("value", problem)
        entry.finish()
    for key in REQUIRED:
        if key not in found:
            table.refuse(key, "this parameter is missing", f"every design needs {', '.join(REQUIRED)}")
    if found["n_max"].value <= found["unusable_nodes"].value:
        table.refuse("n_max", "must be greater than unusable_nodes")
    return found


def _stage(table: Table, values: Mapping[str, float]) -> Stage:
    loops = table.table("loops", optional=True)
    dimensions = {"nodes", "cells", "mutations", "packets", *values}
    factors: dict[str, int | str] = {}
    for dimension in loops.names():
        if dimension not in dimensions:
            loops.refuse(dimension, "unknown loop dimension", f"dimensions: {', '.join(sorted(dimensions))}")
        factor = loops.take(dimension)
        if isinstance(factor, str):
            factors[dimension] = loops.choice(dimension, {"all", *values})
        else:
            factors[dimension] = loops.count(dimension)
    for key in ("ii", "share"):
        if isinstance(table.number_or_name(key, 1), str):
            table.choice(key, values)
    stage = Stage(
        name=table.text("name"),
        kernel=table.text("kernel"),
        loops=factors,
        ii=table.number_or_name("ii", 1),
        depth=table.number("depth", 0),
        streams=table.flag("streams", False),
        share=table.number_or_name("share", 1),
        source=table.text("source"),
    )
    table.finish()
    return stage


def _component(table: Table, values: Mapping[str, float], device: Device, stages: set[str]) -> Component:
    unit = table.choice("unit", {"count", "percent"}, "count")
    resources = Resources(*(table.number(name, 0) for name in RESOURCES))
    if unit == "percent":
        parts = device.available.as_dict()
        resources = resources.times({name: parts[name] / 100 for name in RESOURCES})
    stage = table.choice("stage", stages) if table.has("stage") else None
    given = table.table("reference", optional=True)
    reference = dict(values) | {key: given.number(key) for key in given.names()}
    component = Component(
        name=table.text("name"),
        stage=stage,
        resources=resources,
        scale=_scale(table.table("scale", optional=True), values),
        reference=reference,
        kind=table.choice("kind", KINDS),
        source=table.text("source"),
    )
    table.finish()
    return component


def _scale(table: Table, values: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the exponents by parameter and resource; one number stands for all resources."""
    scale = {}
    for key in table.names():
        if key not in values:
            table.refuse(key, "no such parameter to scale with", f"parameters: {', '.join(sorted(values))}")
        if isinstance(table.take(key), dict):
            entry = table.table(key)
            scale[key] = {name: entry.number(name, 0) for name in RESOURCES}
            entry.finish()
        else:
            scale[key] = dict.fromkeys(RESOURCES, table.number(key))
    return scale


def _benchmark(table: Table) -> Benchmark:
    benchmark = Benchmark(
        cells=table.count("cells"),
        mutations=table.count("mutations"),
        modelled=table.number("modelled") if table.has("modelled") else None,
        measured=table.number("measured") if table.has("measured") else None,
        source=table.text("source"),
    )
    table.finish()
    return benchmark


def _sweep(table: Table, values: Mapping[str, float]) -> dict[str, tuple[float, ...]]:
    axes = {}
    for key in table.names():
        numbers = table.take(key)
        if key not in values:
            table.refuse(key, "no such parameter to sweep", f"parameters: {', '.join(sorted(values))}")
        if not isinstance(numbers, list) or not all(
            isinstance(each, int | float) and each > 0 for each in numbers
        ):
            table.refuse(key, "expected a list of positive numbers")
        axes[key] = tuple(float(each) for each in numbers)
    return axes
