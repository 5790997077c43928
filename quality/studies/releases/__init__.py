"""Speed of chains by release, from stored measurements."""
