"""Traces of an area from the OSM API, box after box and page by page, kept on disk."""

import gzip
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import platformdirs
from shapely import get_parts

from trajanon.atomic_output import replacing
from trajanon.errors import BadInput, FileProblem, ServerProblem
from trajanon.extract.earth.area import Area, Box, Region
from trajanon.extract.rules import MAX_PAGES, SERVER
from trajanon.extract.sources.gpx.gpx_document import Document, read
from trajanon.extract.sources.osm import trackpoints
from trajanon.extract.trace import Trace
from trajanon.notices import Notices
from trajanon.number_text import number_of
from trajanon.progress import Progress, silent

if TYPE_CHECKING:
    from trajanon.extract.sources.osm.server import Server

logger = logging.getLogger(__name__)

MAX_AREA = 0.25  # square degrees; the server refuses more
PAUSE = 1.0  # seconds between two requests: the API is for editing, and we are guests


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberedPages:
    """The pages 0, 1, ... of GET /api/0.6/trackpoints; each is downloaded once.

    Iterating raises ServerProblem if the server cannot be reached, refuses, or sends what is not
    GPX; the pages before stay in the cache, and iterating again goes on.
    """

    box: Box  # where the points shall lie
    url: str = SERVER  # the server
    max_pages: int = MAX_PAGES  # how many pages to give at most
    cache: Path | None = None  # folder for the pages of all boxes; None for the user's cache folder
    progress: Progress = silent  # told after each page
    pause: float = PAUSE  # seconds between two requests
    warned: Notices = field(default_factory=Notices)

    def __post_init__(self) -> None:
        if (area := _square_degrees(self.box)) > MAX_AREA:
            raise BadInput(
                f"the box {self.box} has {area:.3g} square degrees, the server gives "
                f"at most {MAX_AREA}; take a smaller box, or GPX files of the area"
            )
        if self.max_pages < 1:
            raise BadInput(f"`max_pages` must be at least 1 (got {self.max_pages})")
        try:
            parts = urlsplit(self.url)
            named = parts.hostname and (parts.port is None or parts.port > 0)
        except ValueError:  # a port that is none
            named = False
        if not named or not self.url.startswith(("https://", "http://")):
            raise BadInput(f"the server {self.url!r} must begin with https:// and a host")

    def __iter__(self) -> Iterator[Document]:
        """Give the pages, from the cache where it has them."""
        import requests

        from trajanon.extract.sources.osm.server import Server

        # Never 1e-05, which the server need not understand; it has seven decimals itself.
        sides = (f"{side:.7f}".rstrip("0").rstrip(".") for side in self.box.sides)
        bbox = ",".join(sides)
        kept = _PageCache(self, bbox)
        with requests.Session() as session:
            server = Server(session, self.url, self.pause)
            for number in range(self.max_pages):
                page = kept.page(number, server, bbox)
                self.progress("Reading pages of the OSM server", number + 1, None)
                yield page
        # Whoever takes the last page and asks for one more has not seen the end.
        pages = number_of(self.max_pages, "page")
        msg = f"stopped after {pages} of the box {self.box}, the server may have more: "
        self.warned.warn(logger, "more pages", f"{msg}`max_pages` raises it", bbox)


class _PageCache:
    """The pages of one box of one server, a file each; empty where no folder can be made."""

    def __init__(self, pages: NumberedPages, bbox: str) -> None:
        root = pages.cache or platformdirs.user_cache_path("trajanon") / "osm-api"
        parts = urlsplit(pages.url)
        names = (parts.hostname, parts.port, parts.path.strip("/"), bbox)
        self._folder = root / re.sub(r"[^\w.-]", "_", "_".join(str(one) for one in names if one))
        self._reads = self._writes = True
        self._warned = pages.warned
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)  # an earlier version made it for everybody
        except OSError as error:
            self._reads = False
            self._give_up(error)
        if kept := self._kept():
            day = datetime.fromtimestamp(self._path(0).stat().st_mtime).astimezone()
            msg = "%s from the cache of %s; to ask for new ones, remove %s"
            logger.info(msg, number_of(kept, "page"), day.date(), self._folder)

    def page(self, number: int, server: "Server", bbox: str) -> Document:
        """Give a page from the disk; download what is not there, or damaged."""
        from trajanon.extract.sources.osm.server import TryAgain

        path = self._path(number)
        with suppress(OSError):  # a `FileProblem` among them
            if self._reads:
                return read(path.read_bytes(), str(path))
        try:
            content = server.page(bbox, number)
            page = read(content, f"page {number}")
        except TryAgain as again:
            raise ServerProblem(f"{again}; {self._way_on()}") from again
        except FileProblem as error:
            raise ServerProblem(
                f"{server.name} sent something else than GPX as page {number}; {self._way_on()}"
            ) from error
        if self._writes:
            try:
                with replacing(path) as (draft,):
                    draft.write_bytes(gzip.compress(content))
            except OSError as error:
                self._give_up(error)
        return page

    def _kept(self) -> int:
        return sum(self._reads for _ in takewhile(Path.exists, map(self._path, count())))

    def _way_on(self) -> str:
        """Say what is kept, and how to go on after a failure."""
        if not self._kept():
            return "run the same command again later"
        pages = f"the pages downloaded so far ({self._kept()})"
        return f"{pages} are kept, run the same command again to go on"

    def _give_up(self, error: OSError) -> None:
        self._writes = False
        why = error.strerror or error
        msg = f"cannot keep pages in {self._folder} ({why}): an interrupted download starts anew"
        self._warned.warn(logger, "cache", msg, str(self._folder))

    def _path(self, number: int) -> Path:
        return self._folder / f"page{number:04d}.gpx.gz"


def public_url(url: str) -> str:
    """Give a server's address without the name and password that may stand in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def traces_of_boxes(
    boxes: Sequence[Box], counts: Counter[str], *, url: str, max_pages: int, progress: Progress
) -> Iterator[tuple[int, Trace]]:
    """Ask the server for the traces of boxes, each with the number of its box."""
    warned = Notices()
    pages_of = partial(NumberedPages, url=url, max_pages=max_pages)
    asked = [pages_of(box=box, progress=progress, warned=warned) for box in boxes]
    for number, pages in enumerate(asked):
        # Trackable recordings have no other name than their place in a row.
        where = f"box {number + 1}: "
        for trace in trackpoints.joined_traces(pages, counts, where, warned=warned):
            yield number, trace
    warned.tell_others()


def boxes_of(area: Area) -> list[Box]:
    """Give the boxes to ask for: one for all, if the server takes it, or one a part."""
    whole = area.bounds
    if _square_degrees(whole) > MAX_AREA and isinstance(area, Region):
        return [Box(*part.bounds) for part in get_parts(area.shape)]
    return [whole]  # which is refused, with the numbers, if it is too large


def _square_degrees(box: Box) -> float:
    return (box.east - box.west) * (box.north - box.south)
