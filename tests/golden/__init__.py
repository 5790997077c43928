"""Golden runs: whole commands whose recorded output files must stay the same."""
