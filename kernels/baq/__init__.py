"""Base alignment qualities (BAQ): a hidden Markov model in a band, one read a lane."""
