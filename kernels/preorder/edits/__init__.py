"""What each edit does to intervals of the preorder: one a file (docs/model.md, "Intervals")."""
