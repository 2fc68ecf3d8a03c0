"""Readers: one kind of source a file, each a generator of traces."""
