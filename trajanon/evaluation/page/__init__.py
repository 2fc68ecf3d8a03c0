"""Pages, datasheet and record of processing: their templates, and how they are filled."""
