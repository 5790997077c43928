"""Wide tables, whose sketches show what has to be read: for wide matrices."""
