"""The program: ``syclade``, and ``python -m syclade``."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit; Ctrl-C is taken care of before anything large is imported."""
    try:
        from syclade.host.commands.interrupts import handle_interrupts

        handle_interrupts()
        from syclade.host.commands.main import main as run
        from syclade.host.commands.streams import prepare_streams

        prepare_streams()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
