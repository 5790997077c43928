"""Reference folders: inputs, and SCITE's results for each."""
