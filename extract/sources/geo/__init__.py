"""Geographic files of points or lines."""
