"""Results as maps to look at: one for the holder of the data, one to publish."""

from trajanon.maps.compare import compare
from trajanon.maps.page import html, save
from trajanon.maps.public import public

__all__ = ["compare", "html", "public", "save"]
