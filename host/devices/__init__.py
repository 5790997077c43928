"""The devices there are, and how to find out whether they run."""
