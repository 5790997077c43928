"""Search for the most likely tree: its problem, runners, stages and phases, and the stopping rule."""
