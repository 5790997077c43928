"""Are the trees as good as SCITE's? Two one-sided t-tests."""
