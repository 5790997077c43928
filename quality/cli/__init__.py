"""Commands for measurements, quality checks and the circuit model."""
