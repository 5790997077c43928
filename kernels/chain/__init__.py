"""The parts of a chain, and the kernel that composes them and does many steps."""
