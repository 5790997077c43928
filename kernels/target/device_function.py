"""Functions that device code calls: callable from Python, and compiled by each target that uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class DeviceFunction:
    """A function that kernels and other device functions may call.

    Attributes:
        function: the Python function, which a target compiles.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__

    def __call__(self, *arguments: Any) -> Any:
        """Run the function in Python."""
        return self.function(*arguments)

    def __repr__(self) -> str:
        return f"<device function {self.__module__}.{self.function.__qualname__}>"


class Operation(DeviceFunction):
    """A device function that each target may implement in its own way; the Python function defines it."""


def device_function(function: Callable[..., Any]) -> DeviceFunction:
    """Make a device function of a Python function (decorator)."""
    return DeviceFunction(function)
