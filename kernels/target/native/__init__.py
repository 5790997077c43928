"""Target `native`: numba for any CPU. A slot is one call, and its lanes are one LLVM vector.

A branch on a value that differs between lanes does not compile. Neither does such a value where all lanes
must have the same. So the vectorisers of other targets can handle all code that compiles here.
"""
