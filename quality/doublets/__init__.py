"""What the model of doublets brings: trees nearer to the truth, calls of doublets, and optima."""
