"""Groups as columns: set partitioning by column generation, and the bound that it proves."""
