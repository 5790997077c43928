"""The program: ``syclade``, and ``python -m syclade``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main", "scite"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; Ctrl-C is taken care of before anything large is imported.

    Args:
        arguments: the arguments after the program's name; None takes those of the process.
    """
    try:
        from syclade.host.commands.process import handle_interrupts

        handle_interrupts()
        from syclade.host.ground.limits import use_one_blas_thread

        use_one_blas_thread()
        from syclade.host.commands.main import main as run
        from syclade.host.commands.process import prepare_streams

        prepare_streams()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run(arguments)


def scite() -> None:
    """Run `syclade scite` as a program named `scite` (recipes/scite), which replaces files as SCITE does."""
    given = sys.argv[1:]
    main(["scite", *given, *([] if "--force" in given else ["--force"])])


if __name__ == "__main__":
    main()
