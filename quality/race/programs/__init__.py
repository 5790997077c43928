"""Scripts that call third-party programs; they are run by a separate Python and never imported."""
