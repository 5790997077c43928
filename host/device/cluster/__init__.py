"""Executors and their workers: places where jobs of a run are done. They know no trees."""
