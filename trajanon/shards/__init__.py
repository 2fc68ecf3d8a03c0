"""Data beyond memory: from file to file, in folders of parts, and on clusters."""
