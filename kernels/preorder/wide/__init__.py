"""Tables of which sketches tell what has to be read: for wide matrices."""
