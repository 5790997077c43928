"""The model: rates, likelihood, the problem in integers, and simulation."""
