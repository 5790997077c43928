"""The target `native`: numba for any CPU. A slot is a call, and its lanes are one vector of LLVM.

A branch on what differs between lanes does not compile, nor does such a number where lanes share one: what
compiles here, the vectorisers of other targets can do.
"""
