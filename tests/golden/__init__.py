"""Golden runs: whole commands whose output files were recorded once and must stay the same."""
