"""Race for the most likely tree: search, chains and third-party programs on simulated inputs."""
