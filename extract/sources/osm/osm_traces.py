"""Traces of an area from the OSM API, box after box."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from shapely import get_parts

from trajanon.extract.earth.box import Area, Box
from trajanon.extract.earth.regions import Region
from trajanon.extract.sources.osm import trackpoints
from trajanon.extract.sources.osm.osm_api import MAX_AREA, NumberedPages, Pages
from trajanon.extract.sources.source import LeftOut, Numbered
from trajanon.extract.trace import Trace
from trajanon.progress import Progress


def numbered(
    area: Area, *, url: str, max_pages: int, refresh: bool, progress: Progress
) -> Numbered:
    """Ask the server for the traces of an area, each box of it a unit."""
    boxes: list[Pages] = [
        NumberedPages(box=box, url=url, max_pages=max_pages, refresh=refresh, progress=progress)
        for box in boxes_of(area)
    ]

    def traces(begin: int, left_out: LeftOut) -> Iterator[tuple[int, Trace]]:
        for number, pages in enumerate(boxes[begin:], start=begin):
            # Trackable recordings have no other name than their place in a row.
            where = f"box {number + 1}: "
            for trace in trackpoints.traces(pages, left_out(number), where):
                yield number, trace

    return traces


def boxes_of(area: Area) -> list[Box]:
    """Give the boxes to ask for: one for all, if the server takes it, or one a part."""
    whole = area.bounds
    if (whole.east - whole.west) * (whole.north - whole.south) <= MAX_AREA:
        return [whole]
    if isinstance(area, Region):
        return [Box(*part.bounds) for part in get_parts(area.shape)]
    return [whole]  # which is refused, with the numbers


def public_url(url: str) -> str:
    """A server's address without the name and password that may stand in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
