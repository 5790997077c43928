"""Inputs by the thousand, most of them damaged: nothing but a `SycladeError` may come of them.

`python -m tests.fuzz --inputs 100000 --seed 1` runs as many of each kind; `test_fuzz.py` runs some thousands.
An input follows from the seed, its kind and its number alone.
"""
