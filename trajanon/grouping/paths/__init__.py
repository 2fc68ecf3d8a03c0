"""Paths through records, which are then cut into groups."""
