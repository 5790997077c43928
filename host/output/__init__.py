"""What comes out: results, and files that are whole or not there."""
