"""The tables of the papers, measured again."""
