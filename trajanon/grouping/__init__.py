"""Records -> groups, by distance alone."""
