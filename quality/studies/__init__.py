"""Studies behind figures of the documentation; they run from a clone, and are not part of the wheel.

Checks that users run on their own data, or with other programs, are in `syclade quality`.
"""
