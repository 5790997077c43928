"""Encoding `parities`: rows of the nodes by whether the recurrent mutation's copies above are even or odd."""
