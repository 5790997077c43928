"""Trees that are as likely as the best one: found by walking, counted, and what all of them share."""
