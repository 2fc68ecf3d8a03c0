"""Parts of the Earth: areas, boundaries, sensitive places, roads."""
