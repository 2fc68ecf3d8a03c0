"""Methods and refinements that only the papers use."""
