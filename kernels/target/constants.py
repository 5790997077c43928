"""Constants of a kernel: known to the factory, or written into the compiled module by the host.

A kernel whose sizes are specialisation constants is compiled once for all sizes. The host writes the sizes of
a problem into the module before the device's driver translates it. The driver then folds them, unrolls and
vectorises as if they were numbers in the source (SPIR-V Specification 1.4, 2.12 and 3.32.7).
"""

from typing import Any

from syclade.kernels.target.device_function import DeviceFunction


class SpecialisationConstant(DeviceFunction):
    """Device function () -> control: a number that the host writes into the module.

    Attributes:
        index: number of the constant, counted from 0.
    """

    def __init__(self, index: int) -> None:
        super().__init__(_unknown)
        self.index = index


def _unknown() -> Any:
    raise TypeError("a specialisation constant has a value on SYCL devices only")


def fixed(values: Any) -> DeviceFunction:
    """Return the device function () -> values, for constants that are known now.

    Args:
        values: a record of control integers.
    """

    def constants() -> Any:
        return values

    return DeviceFunction(constants)


def specialised(record: Any, first: int = 0) -> DeviceFunction:
    """Return the device function () -> record, whose fields are specialisation constants.

    Args:
        record: a NamedTuple class.
        first: index of the first field's constant; the others follow.
    """
    constants = [SpecialisationConstant(first + at) for at in range(len(record._fields))]
    values = ", ".join(f"constant_{at}()" for at in range(len(constants)))
    text = f"def read():\n    return record({values})\n"
    scope = {"record": record} | {f"constant_{at}": one for at, one in enumerate(constants)}
    exec(compile(text, f"<specialised {record.__name__}>", "exec"), scope)
    return DeviceFunction(scope["read"])
