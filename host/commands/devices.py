"""``syclade devices``: list the devices."""

from __future__ import annotations

import json

import click

from syclade.host.commands import options

__all__ = ["command"]


@click.command("devices")
@options.take("json")
def command(as_json: bool) -> None:
    """List the devices: filter string, name, kind, and whether each is usable or why not.

    Every device is tested again in a subprocess, and the results are cached.
    """
    from syclade.host.device.choice import known_devices
    from syclade.host.device.compile.compiler_check import kernel_origin
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
