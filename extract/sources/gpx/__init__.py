"""GPX: files, archives of them, and the planet dump."""
