"""Better groups out of groups."""
