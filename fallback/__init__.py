"""The chain in numpy, plain, vectorised over the slots: for where there is neither device nor compiler."""
