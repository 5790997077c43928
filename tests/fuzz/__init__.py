"""Fuzzing: thousands of inputs, most of them damaged; the only error that they may cause is a `SycladeError`.

`python -m tests.fuzz --inputs 100000 --seed 1` runs that many inputs of each kind. `test_fuzz.py` runs 300 of
each kind, or 2000 with the marker `verification`. An input depends only on the seed, its kind and its number.
"""
