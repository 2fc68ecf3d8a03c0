"""Results as maps to look at: one for the holder of the data, one to publish."""

from trajanon.maps.background import Background
from trajanon.maps.compare import compare, compare_releases
from trajanon.maps.page import html, save
from trajanon.maps.public import public

__all__ = ["Background", "compare", "compare_releases", "html", "public", "save"]
