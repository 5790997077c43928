"""Export of the kernels: SPIR-V, a manifest, a test vector and a loader in one folder."""

from syclade.host.commands.export.folder import FILES, export_folder

__all__ = ["FILES", "export_folder"]
