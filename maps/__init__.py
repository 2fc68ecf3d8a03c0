"""Results as maps to look at: one for the holder of the data, one to publish."""

from trajanon.maps.page import Surroundings, compare, html, public, save

__all__ = ["Surroundings", "compare", "html", "public", "save"]
