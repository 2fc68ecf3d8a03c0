"""Groups to a release: lines, what is left out, its report, its check, and its verdict."""
