"""Tables with a point in each row, and other text in columns."""
