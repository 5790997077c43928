"""What a chain is put together from in numpy, and the one place where it is."""
