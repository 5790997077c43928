"""SCITE's command line: `syclade scite` takes its arguments, and leaves its files and lines."""
