"""Methods, refinements and tables that only the papers use."""
