"""Report of a result: one HTML page without scripts or external resources, to read, print and send."""
