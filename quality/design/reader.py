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

__all__ = ["device_names", "load_design", "load_device", "preset_names"]

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
        return _design(parse_toml(_read(path, "the design"), name_or_path), path.stem, path.parent)
    if name_or_path not in preset_names():
        hint = f"presets: {', '.join(preset_names())}; or give a file ending in .toml"
        raise OptionError(f"there is no design preset {name_or_path!r}", hint=hint)
    file = f"{name_or_path}.toml"
    text = (_HERE / "presets" / file).read_text(encoding="utf-8")
    return _design(parse_toml(text, file), name_or_path, None)


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DesignFileError(f"cannot read {what}: {error}", path=str(path)) from error


def _is_toml(entry: Traversable) -> bool:
    return entry.name.endswith(".toml")


def _design(top: Table, name: str, folder: Path | None) -> Design:
    device = _device(top, folder)
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
        project_unroll=top.texts("project_unroll"),
    )
    for parameter in design.project_unroll:
        if parameter not in values:
            top.refuse("project_unroll", f"there is no parameter {parameter!r}")
    top.finish()
    return design


def _device(top: Table, folder: Path | None) -> Device:
    """Return the card that a design names; a file is looked for beside the design's own file."""
    name = top.text("device")
    if name.endswith(".toml") and folder is not None:
        return load_device(str(folder / name))
    if name not in device_names():
        top.refuse("device", f"there is no device {name!r}", f"devices: {', '.join(device_names())}")
    return load_device(name)


def device_names() -> tuple[str, ...]:
    """Return the names of the cards that come with the package, sorted."""
    return tuple(sorted(entry.name[:-5] for entry in (_HERE / "devices").iterdir() if _is_toml(entry)))


def load_device(name_or_path: str) -> Device:
    """Load a card by the name of a file that comes with the package, or from a TOML file.

    Raises:
        DesignFileError: the file cannot be read or used; the error names file and key.
        OptionError: there is no such card.
    """
    if name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        return _card(parse_toml(_read(path, "the card"), name_or_path), path.stem)
    if name_or_path not in device_names():
        hint = f"cards: {', '.join(device_names())}; or give a file ending in .toml"
        raise OptionError(f"there is no card {name_or_path!r}", hint=hint)
    file = f"{name_or_path}.toml"
    return _card(parse_toml((_HERE / "devices" / file).read_text(encoding="utf-8"), file), name_or_path)


def _card(table: Table, name: str) -> Device:
    device = Device(
        name=name,
        title=table.text("title"),
        available=_resources(table.table("available")),
        static_partition=_resources(table.table("static_partition")),
        logic_limit=table.number("logic_limit"),
        memory_kb=table.number("memory_kb", 0),
        source=table.text("source"),
    )
    if not 0 < device.logic_limit <= 1:
        table.refuse("logic_limit", f"{device.logic_limit:g} is no fraction above 0 and up to 1")
    if not device.available.luts:
        table.table("available").refuse("luts", "a card has look-up tables: give their number")
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
        counted=table.text("counted", ""),
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
