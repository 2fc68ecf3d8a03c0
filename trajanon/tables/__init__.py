"""Microaggregation of any table of numbers."""
