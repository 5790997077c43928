"""Modules that every other part of the host may import: errors, values, files, formats of compilers."""
