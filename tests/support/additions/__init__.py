"""Parts of chains that the package does not have, added through its public doors only."""
