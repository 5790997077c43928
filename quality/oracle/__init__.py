"""The chain in plain Python: slow, obviously right, and what every backend is compared with.

Trees are parent vectors, randomness is Philox on Python integers, scores are sums over every path. Nothing
here is shared with the kernels or their numpy mirror, so that a mistake has to be made twice to go unseen.
"""
