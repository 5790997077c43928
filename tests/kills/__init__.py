"""python -m tests.kills: runs that are killed at random moments and resumed give the same files."""
