"""Collections of traces that researchers know, each in a form of its own."""
