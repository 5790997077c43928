"""``syclade devices``: list the devices, and where the kernels of each come from.

Whether numba-dpex imports is checked in a subprocess: the import takes a second and may fail in any way.
Run as `python -m syclade.host.commands.devices`: prints why it does not import, or nothing.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING

import click

from syclade.host.commands import options

if TYPE_CHECKING:
    from syclade.host.device.device import Device

__all__ = ["command", "kernel_origin", "sycl_compiler_problem"]


@click.command("devices")
@options.take("json")
def command(as_json: bool) -> None:
    """List the devices: filter string, name, kind, and whether each is usable or why not.

    Every device is tested again in a subprocess, and the results are cached.
    """
    from syclade.host.device.choice import known_devices
    from syclade.host.device.cuda import listed_gpus
    from syclade.host.device.device import own_devices

    found = known_devices(refresh=True)
    devices = [*found.devices, *listed_gpus(), *own_devices()]
    if as_json:
        click.echo(
            json.dumps(
                [device.as_dict() | {"kernels": kernel_origin(device)} for device in devices], indent=2
            )
        )
    else:
        from rich.console import Console
        from rich.table import Table

        table = Table("filter", "kind", "units", "name", "usable", "kernels")
        for device in devices:
            verdict = "yes" if device.usable else f"no: {device.reason}"
            table.add_row(
                device.filter, device.kind, str(device.units), device.name, verdict, kernel_origin(device)
            )
        Console().print(table)
    if found.problem is not None:
        click.echo(f"syclade: no SYCL device: {found.problem}", err=True)


def kernel_origin(device: Device) -> str:
    """Return where a device's kernels come from, as a message; empty if the device is not usable."""
    from syclade.host.device.compile.machine_code import PTX_COMPILER, ptx_compiler_problem
    from syclade.host.device.compile.precompiled import PTX, SPIRV, own_processor, shipped
    from syclade.host.device.device import native_problem
    from syclade.host.ground.packages import version_of

    if not device.usable:
        return ""
    if device.kind in ("numpy", "python"):
        return "none needed"
    if device.kind == "fpga":
        return "from an image (syclade export)"
    made_for: str | None
    if device.kind == "cuda":
        made_for, compiler, problem = PTX, PTX_COMPILER, ptx_compiler_problem()
    elif device.kind == "native":
        made_for, compiler, problem = own_processor(), "numba", native_problem()
    else:
        made_for, compiler, problem = SPIRV, "numba-dpex", sycl_compiler_problem()
    there = sum(entry.made_for == made_for for entry in shipped())
    parts = [f"{there} with the package, for many sizes"] if there else []
    parts.append(
        f"others by {compiler} {version_of(compiler)}" if problem is None else f"no others: {problem}"
    )
    return "; ".join(parts)


_TIMEOUT = 60  # seconds

_IMPORTS = b"imports"


@cache
def sycl_compiler_problem() -> str | None:
    """Return why numba-dpex cannot compile kernels; None if it imports.

    A success is cached for the same versions and the same Python; after a failure, the import is tried again.
    """
    from syclade.host.ground.cache import read_cached, write_cached
    from syclade.host.ground.packages import version_of

    if version_of("numba-dpex") is None:
        return "numba-dpex is not installed"
    name = _name()
    if read_cached(name) == _IMPORTS:
        return None
    problem = _tried()
    if problem is None:
        write_cached(name, _IMPORTS)
    return problem


def _tried() -> str | None:
    """Try to import numba-dpex in a subprocess; return the problem, or None."""
    command = [sys.executable, "-P", "-m", __name__]
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"numba-dpex does not import within {_TIMEOUT} s"
    except OSError as error:
        return f"{sys.executable or 'Python'} does not start: {error.strerror}"
    if done.returncode:
        output = done.stderr.strip().rpartition("\n")[2]
        return f"numba-dpex does not import: {output or f'the process ends with {done.returncode}'}"
    return done.stdout.strip() or None


def _name() -> str:
    """Return the name of the cached file, which depends on the versions and on this Python."""
    from syclade.host.device.compile.translate import compiler_versions

    identity = json.dumps([*compiler_versions(), sys.executable, sys.version])
    return f"compiler-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def _main() -> None:
    from syclade.host.device.compile.translate import import_compiler
    from syclade.host.device.workarounds import prepare
    from syclade.host.ground.errors import DeviceError

    try:
        prepare()
        import_compiler()
    except DeviceError as error:
        print(error.message)


if __name__ == "__main__":
    _main()
