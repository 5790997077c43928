"""Consensus of sampled mutation trees: the clone tree that is nearest to the truth on average."""
