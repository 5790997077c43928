"""``python -m syclade``."""

from syclade.host.cli.main import main

if __name__ == "__main__":
    main()
