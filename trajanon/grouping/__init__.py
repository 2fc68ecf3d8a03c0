"""Records in, groups of at least k out."""
