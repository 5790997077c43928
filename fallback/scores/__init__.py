"""What a cell is worth: one score a file."""
