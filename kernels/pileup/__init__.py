"""Reads of a BAM stream, and their counts by column of the reference."""
