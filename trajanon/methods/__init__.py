"""The published methods: each takes a problem and gives the group of each record, (n,)."""
