"""Figures of a result, from its files: as SVG, and by matplotlib as PDF and PNG."""
