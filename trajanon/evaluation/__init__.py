"""The evidence for the holder: what a release protects, and what it costs."""
