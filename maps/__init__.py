"""Results as maps to look at: one for the holder of the data, one to publish."""

from trajanon.maps.background import Surroundings
from trajanon.maps.page import compare, html, public, save

__all__ = ["Surroundings", "compare", "html", "public", "save"]
