"""Long runs: kept in a file, stopped and gone on with, bit for bit as if they had never stopped."""
