"""python -m tests.kills: runs that are killed at random moments end as if they had not been."""
