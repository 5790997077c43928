"""Co-optimal trees: all trees that are as likely as the best one, their number, and what they share."""
