"""Declarations of projects in C++: streams, ports and kernels, in the words of each compiler.

Those of the stages of a chain and of the column unit are made here, so that both follow a compiler alike.
"""

from __future__ import annotations

__all__ = ["indented", "oneapi_kernel", "oneapi_pipe", "vitis_port", "vitis_stream", "vitis_stream_type"]


def indented(text: str, depth: int = 1) -> str:
    """Return lines moved right by a number of steps; empty ones stay empty."""
    pad = "    " * depth
    return "".join(f"{pad}{line}\n" if line.strip() else "\n" for line in text.splitlines())


def vitis_stream_type(element: str) -> str:
    """Return the type of a stream of elements."""
    return f"hls::stream<{element}>"


def vitis_stream(name: str, element: str, depth: int | str) -> str:
    """Return the declaration of a stream in a function, with its depth."""
    return (
        f'    {vitis_stream_type(element)} {name}("{name}");\n'
        f"#pragma HLS stream variable={name} depth={depth}\n"
    )


def vitis_port(pointer: str, bundle: str) -> str:
    """Return the pragma that gives a pointer a port of its own."""
    return f"#pragma HLS interface m_axi port={pointer} bundle={bundle}\n"


def oneapi_pipe(name: str, element: str, depth: int | str) -> str:
    """Return the declaration of a pipe; the identity of a pipe is a class."""
    return f"class {name}_id;\nusing {name} = Stream<{name}_id, {element}, {depth}>;\n"


def oneapi_kernel(name: str, function: str, parameters: str, body: str) -> str:
    """Return the function that starts a kernel.

    Args:
        name: name of the kernel, whose class is named after it.
        function: name of the function.
        parameters: those after the queue, as C.
        body: the kernel's statements, indented by one step.
    """
    return (
        f"class {name}_kernel;\n\n"
        f"static sycl::event {function}(\n    sycl::queue &queue,\n    {parameters})\n{{\n"
        f"    return queue.single_task<{name}_kernel>([=]() [[intel::kernel_args_restrict]] {{\n"
        f"{indented(body)}    }});\n}}\n"
    )
