"""Projects for high-level synthesis: the stages of the macro-pipeline in C, from their Python sources."""

from syclade.host.commands.export.hls.oneapi import ONEAPI
from syclade.host.commands.export.hls.opencl import OPENCL
from syclade.host.commands.export.hls.vitis import VITIS

__all__ = ["FLAVOURS"]

FLAVOURS = {flavour.name: flavour for flavour in (OPENCL, VITIS, ONEAPI)}
"""Flavours by name: the compilers that projects can be made for."""
