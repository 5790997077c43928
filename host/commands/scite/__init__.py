"""SCITE's command line: `syclade scite` takes its arguments, and writes its files and output lines."""
