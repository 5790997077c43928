"""A result as one page of HTML: no script, nothing from outside, to be read, printed and sent."""
