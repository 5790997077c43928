"""∞SCITE's command line: `syclade infscite` takes its arguments, and writes its files and output lines."""
