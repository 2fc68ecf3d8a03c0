"""Counts on streets, and from zone to zone, out of a release."""
