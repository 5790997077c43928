"""``syclade design column-units``: the model of the accelerator for columns of a pileup."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.ground.errors import OptionError

if TYPE_CHECKING:
    from syclade.quality.design.columns.evaluation import Evaluation
    from syclade.quality.design.columns.model import ColumnDesign
    from syclade.quality.design.columns.statement import Statement

__all__ = ["NAME", "is_column_design", "report"]

NAME = "column-units"
_DEPTHS = (100, 300, 700, 1000, 3000, 4200, 8000, 20_000)
"""K of the table of a design."""

_TIMELINE_K, _TIMELINE_DEPTH, _TIMELINE_BASES = 5, 12, 4
"""A pipeline short enough to be drawn."""


def is_column_design(name: str) -> bool:
    """Return whether this is the name of the model, or of one of its designs, such as I/S/8."""
    return name == NAME or (name.count("/") == 2 and name[:2] in ("I/", "O/") and not name.endswith(".toml"))


def report(name: str, as_json: bool, given: dict[str, Any]) -> None:
    """Print the designs, or one of them; with a sweep, also all data sets; with a simulation, its timeline.

    Raises:
        OptionError: there is no such design, or another option was given.
    """
    from syclade.quality.design.columns.reader import column_designs

    taken = {"sweep", "simulate", "settings", "steps", "card", "plot", "measured"}
    others = [key for key, value in given.items() if key not in taken and value not in (None, False, ())]
    if others:
        raise OptionError(
            f"--{others[0].replace('_', '-')} is not for column units",
            hint="--set, --device, --measured, --sweep, --simulate, --plot and --json are",
        )
    designs = column_designs()
    if name != NAME and name not in designs:
        raise OptionError(f"there is no design {name!r}", hint=f"there are {', '.join(designs)}")
    chosen = list(designs.values()) if name == NAME else [designs[name]]
    if given["card"] is not None:
        chosen = [design.on(given["card"]) for design in chosen]
    if given["settings"]:
        chosen = [design.changed(_settings(given["settings"])) for design in chosen]
    if given["plot"] is not None:
        from syclade.quality.design.columns.reader import host_model
        from syclade.quality.design.plots import plot_column_units

        plot_column_units(chosen, host_model().cell_ns, given["plot"])
    found: dict[str, Any] = {"designs": [_design(design) for design in chosen]}
    if given["simulate"]:
        found["simulated"] = [_simulated(design) for design in chosen]
    if given["measured"]:
        found["measured"] = _measured(name, chosen, given["measured"])
    elif name == NAME and not given["settings"] and given["card"] is None:
        found |= _whole(given["sweep"])
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        _print(found)


def _settings(texts: Sequence[str]) -> dict[str, int]:
    values = {}
    for text in texts:
        key, _, value = text.partition("=")
        if not value.isdecimal():
            raise OptionError(f"--set {text!r} is not NAME=NUMBER", hint="for example --set pes=16")
        values[key] = int(value)
    return values


def _design(design: ColumnDesign) -> dict[str, Any]:
    from syclade.quality.design.columns.reader import host_model

    cell_ns = host_model().cell_ns
    rows = [
        {
            "k": k,
            "cycles_per_base": design.cycles_per_base(k),
            "bubbles_per_base": design.bubbles_per_base(k),
            "speedup": design.speedup(k, cell_ns),
            "dram_mb_per_s": design.dram_bytes_per_second(k) / 1e6,
            "fits": design.fits(k),
        }
        for k in _DEPTHS
    ]
    return asdict(design) | {
        "card": design.card.title,
        "is_routable": design.is_routable,
        "most_entries": design.most_entries,
        "overhead": asdict(design.overhead),
        "k": rows,
    }


def _simulated(design: ColumnDesign) -> dict[str, Any]:
    """Return a simulated run beside the model, and the timeline of a short pipeline."""
    from syclade.quality.design.columns.simulation import draw_timeline, simulate_unit

    k = 8 * design.pes * design.pe_depth // 10
    run = simulate_unit(design, k, 6)
    short = design.changed({"pes": 1, "pe_depth": _TIMELINE_DEPTH})
    drawn = draw_timeline(simulate_unit(short, _TIMELINE_K, _TIMELINE_BASES))
    return {
        "name": design.name,
        "k": k,
        "cycles_per_base": run.cycles_per_base,
        "bubbles_per_base": run.bubbles_per_base,
        "modelled": {
            "cycles_per_base": design.cycles_per_base(k),
            "bubbles_per_base": design.bubbles_per_base(k),
        },
        "timeline": drawn.split("\n"),
    }


def _measured(name: str, chosen: Sequence[ColumnDesign], files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return what testbenches of exported units counted, beside the model of one design."""
    from syclade.quality.design.columns.measured import count_of, read_unit_report

    if name == NAME:
        raise OptionError("--measured needs one design", hint="for example I/S/8")
    return [{"file": str(file)} | count_of(chosen[0], read_unit_report(file)).to_dict() for file in files]


def _whole(sweep: bool) -> dict[str, Any]:
    """Return Figure 7 and the statements; with a sweep, all data sets as well."""
    from syclade.quality.design.columns.units import figure_7, unit_statements

    statements: list[Statement] = unit_statements()
    found: dict[str, Any] = {"figure_7": [asdict(one) | {"deviation": one.deviation} for one in figure_7()]}
    if sweep:
        from syclade.quality.design.columns.evaluation import end_to_end_statements, evaluate

        evaluation = evaluate()
        found["datasets"] = _datasets(evaluation)
        statements += end_to_end_statements(evaluation)
    return found | {"statements": [asdict(one) for one in statements]}


def _datasets(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [
        {
            "dataset": row.dataset,
            "published_hours": row.hours,
            "modelled_hours": row.cpu_seconds / 3600,
            "longest_first_seconds": row.longest_first,
            "designs": {name: asdict(run) | {"speedup": row.speedup(name)} for name, run in row.runs.items()},
        }
        for row in evaluation.rows.values()
    ]


def _print(found: dict[str, Any]) -> None:
    """Print the report as lines."""
    for design in found["designs"]:
        units, entries = f"{design['units']} units of {design['pes']}", design["most_entries"]
        print(f"{design['name']}: {units}, {entries} entries each")
        print(_resources(design))
        for row in design["k"]:
            print(_row(row))
    for one in found.get("simulated", []):
        print(_simulation(one))
        print("\n".join(f"  {line}" for line in one["timeline"]))
    for one in found.get("measured", []):
        print(_counted(one))
    for one in found.get("figure_7", []):
        place, deviation = f"{one['design']} at K = {one['at_least']}", f"{100 * one['deviation']:+.1f} %"
        print(f"Fig. 7, {place}: {one['modelled']:.1f} x, published {one['published']:g} x ({deviation})")
    for row in found.get("datasets", []):
        speedups = ", ".join(f"{name} {run['speedup']:.1f}" for name, run in row["designs"].items())
        hours = f"{row['modelled_hours']:.2f} h on the CPU, published {row['published_hours']:.2f}"
        print(f"{row['dataset']}: {hours}; x: {speedups}")
    for one in found.get("statements", []):
        print(f"{str(one['holds']).lower():5}  {one['where']}: {one['text']}. Model: {one['found']}")


def _resources(design: dict[str, Any]) -> str:
    total, estimate = design["total"], " (estimate)" if design["is_estimate"] else ""
    parts = f"{total['luts']:.2f} % of the look-up tables, {total['ffs']:.2f} % of the flip-flops"
    route = "" if design["is_routable"] else "; more look-up tables than designs that route well"
    return f"  {parts}, {total['dsps']:.2f} % of the DSP blocks of {design['card']}{estimate}{route}"


def _row(row: dict[str, Any]) -> str:
    cycles = f"{row['cycles_per_base']:5} cycles a base, {row['bubbles_per_base']:3} of them bubbles"
    rates = f"{row['speedup']:6.1f} x, {row['dram_mb_per_s']:6.1f} MB/s"
    return f"  K {row['k']:6}: {cycles}; {rates}{'' if row['fits'] else '; does not fit'}"


def _counted(one: dict[str, Any]) -> str:
    unit = f"{one['pes']} processing elements, blocks of {one['block']}"
    lines = [f"{one['file']}: {one['columns']} columns, {one['bases']} bases; {unit}"]
    for what in ("passes", "iterations", "cycles"):
        counted, modelled = one[what], one[f"modelled_{what}"]
        lines.append(f"  {what}: {counted} counted, {modelled} modelled, ratio {counted / modelled:.2f}")
    return "\n".join(lines)


def _simulation(one: dict[str, Any]) -> str:
    pair = ("cycles_per_base", "bubbles_per_base")
    simulated, modelled = (" and ".join(str(each[key]) for key in pair) for each in (one, one["modelled"]))
    place = f"{one['name']} at K = {one['k']}"
    return f"{place}: cycles and bubbles a base simulated {simulated}, modelled {modelled}"
