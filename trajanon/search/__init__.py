"""Records to groups: methods, paths through records and their cut, and refinements."""
