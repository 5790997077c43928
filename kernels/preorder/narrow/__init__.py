"""Narrow tables, which are read whole: for matrices of up to some hundred distinct columns."""
