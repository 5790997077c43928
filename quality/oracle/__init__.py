"""The chain in plain Python: slow, obviously correct, and the reference for every backend.

Trees are parent vectors, random numbers are Philox on Python integers, and scores are sums over every path.
Nothing here is shared with the kernels or their numpy mirror, so a bug must be made twice to go unnoticed.
"""
