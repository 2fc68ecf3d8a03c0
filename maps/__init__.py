"""Results as maps to look at: one for the holder of the data, one to publish."""

from trajanon.maps.page import Background, html, save
from trajanon.maps.views import compare, compare_releases, public

__all__ = ["Background", "compare", "compare_releases", "html", "public", "save"]
