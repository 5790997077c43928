"""Reference folders: inputs, and what SCITE made of each."""
