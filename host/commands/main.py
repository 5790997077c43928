"""The command ``syclade``: run the subcommand; turn errors into messages and exit statuses."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

import syclade
from syclade.host.commands.process import end_at_once, interrupted
from syclade.host.ground.errors import SycladeError

__all__ = ["LazyGroup", "cli", "main"]

_COMMANDS = {
    "infer": ("syclade.host.commands.infer", "Infer the maximum-likelihood mutation tree of a matrix."),
    "batch": ("syclade.host.commands.batch:batch", "Infer the trees of many matrices, side by side."),
    "bootstrap": ("syclade.host.commands.batch:bootstrap", "Support of a tree by resampled matrices."),
    "run": ("syclade.host.commands.batch:run", "Run a part of a prepared batch, such as in a job array."),
    "gather": ("syclade.host.commands.batch:gather", "Write the tables of a batch that ran in parts."),
    "plot": ("syclade.host.commands.plot", "Draw a figure of a result, from its folder."),
    "score": ("syclade.host.commands.compare:score", "Print the log-likelihood of a tree."),
    "compare": ("syclade.host.commands.compare:compare", "Compare trees with another, such as the true one."),
    "consensus": ("syclade.host.commands.compare:consensus", "Write the consensus of given trees."),
    "call": ("syclade.host.commands.call", "Call the variants of aligned reads, by LoFreq's model."),
    "filter": ("syclade.host.commands.call:filter_command", "Filter a VCF of called variants."),
    "scite": (
        "syclade.host.commands.scite.command",
        "Take SCITE's arguments, and leave its files and lines.",
    ),
    "infscite": (
        "syclade.host.commands.scite.command:infscite_command",
        "Take ∞SCITE's arguments, and leave its files and lines.",
    ),
    "convert": (
        "syclade.host.commands.convert",
        "Write a matrix of another format in SCITE's or PhISCS' form.",
    ),
    "join": ("syclade.host.commands.convert:join", "Join the matrices of one tumour's specimens."),
    "simulate": ("syclade.host.commands.simulate", "Write a simulated matrix and its true tree."),
    "bench": ("syclade.quality.cli.bench", "Measure chain steps per second."),
    "export": (
        "syclade.host.commands.export.command",
        "Write the kernels, for another host or an FPGA compiler.",
    ),
    "design": ("syclade.quality.cli.design", "Predict the throughput and resources of a circuit."),
    "devices": ("syclade.host.commands.devices", "List the devices and whether they are usable."),
    "quality": ("syclade.quality.cli.quality", "Check the quality of the results."),
}

EXIT_ERROR = 2
EXIT_BROKEN_PIPE = 1
"""The status that click uses when it detects the broken pipe itself."""


class LazyGroup(click.Group):
    """Command group that imports the module of a command only when it runs: help appears quickly."""

    def __init__(self, *, modules: Mapping[str, tuple[str, str]], **settings: Any) -> None:
        """Take module and summary of each command, by name.

        A module has the command as `command`, or under the name that follows after a colon.
        """
        super().__init__(**settings)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order given."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of that name."""
        if cmd_name not in self._modules:
            return None
        module, _, name = self._modules[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name or "command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown one, fail with names that are near."""
        near = difflib.get_close_matches(args[0], self._modules)
        if args[0] not in self._modules and near and not args[0].startswith("-"):
            ctx.fail(f"No such command '{args[0]}'. (Did you mean {' or '.join(near)}?)")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List names and summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self._modules.items()])


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"syclade {syclade.__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, modules=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Infer maximum-likelihood mutation trees of tumours on a SYCL device.

    The model and the Markov chain are SCITE's (Jahn, Kuipers, Beerenwinkel 2016).
    """


def main(arguments: Sequence[str] | None = None, group: click.Group = cli, name: str = "syclade") -> None:
    """Run a command line and exit.

    The exit status is 0 on success, 1 if some matrices of a batch have no result, 2 for an error (reported
    on standard error), 130 after Ctrl-C and 143 after SIGTERM. An interrupted run that returned the best
    tree so far also exits with 130 or 143.

    Args:
        arguments: the arguments after the program's name; None takes those of the process.
        group, name: the commands, and the program's name in usage messages.
    """
    try:
        status = _run(arguments, group, name)
        end_at_once()
    except KeyboardInterrupt:  # while an error was being reported
        status = _interrupted_status()
    sys.exit(status)


def _run(arguments: Sequence[str] | None, group: click.Group, name: str) -> int:
    try:
        status = group.main(arguments, prog_name=name, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return _silence()
    except SycladeError as error:
        return _complain(error.text)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return EXIT_ERROR
    except click.ClickException as error:
        return _complain(_usage_words(error))
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        return _interrupted_status()
    except MemoryError:
        return _complain("out of memory")
    except Exception:
        if not interrupted():
            raise
        _say("interrupted")  # a library may have replaced KeyboardInterrupt by another exception
        return _interrupted_status()
    return status if isinstance(status, int) else 0


def _usage_words(error: click.ClickException) -> str:
    """Return an error of click as other errors are written: what is wrong, and what to do."""
    message = error.format_message().rstrip(".").replace(". (Did", " (did").replace(". Did", ": did")
    message = message[:1].lower() + message[1:]
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return message
    hint = f"{error.ctx.command_path} --help has the usage"
    if _is_of_several_files(error):
        hint = "join the files of one tumour with syclade join; give several to syclade batch"
    return f"{message}\nhint: {hint}"


def _is_of_several_files(error: click.UsageError) -> bool:
    """Return whether infer was given more than one matrix."""
    return error.ctx is not None and error.ctx.command.name == "infer" and "extra argument" in error.message


def _interrupted_status() -> int:
    """Return the status that shells report for a program ended by a signal: 128 plus its number."""
    return 128 + (interrupted() or signal.SIGINT)


def _complain(text: str) -> int:
    _say(f"error: {text}")
    return EXIT_ERROR


def _say(text: str) -> None:
    """Write to standard error; ignore a broken pipe."""
    with contextlib.suppress(BrokenPipeError):
        click.echo(f"syclade: {text}", err=True)


def _silence() -> int:
    """Broken pipe (``| head``): discard buffered output so that the flush at exit cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return EXIT_BROKEN_PIPE
