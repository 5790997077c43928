"""Checks of variant calls: reads simulated from known variants, recall and false calls."""
