"""What a cell is worth: one score a file, each with its slow definition in host/chains/scores."""
