"""Methods that form groups from nothing: by distance, and along a path."""
