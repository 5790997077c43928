"""A race for the most likely tree: search, chains and other people's programs on simulated inputs."""
