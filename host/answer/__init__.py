"""`infer`: from its arguments to a result with its files and report; batches of inferences."""
