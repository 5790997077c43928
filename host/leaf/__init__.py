"""Cell-leaf trees: what chains of them are made of, and what comes of them."""
