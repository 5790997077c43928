"""Support: how sure an inferred tree is, from trees that chains sample after the search (docs/samples.md)."""
