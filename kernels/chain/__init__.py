"""What a chain is put together from, and the one place where it is: the kernel that does many steps."""
