"""Traces of an area from the OSM API: pages kept on disk, asked for slowly, and put together again.

The server sends all points of a box in one row: identifiable and trackable traces, newest upload
first. An older server then sends a cloud: the points of private uploads without time, sorted by
latitude; and its pages are asked for by number. A newer one names the next page in a header.
"""

import gzip
import logging
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import platformdirs
from shapely import get_parts

from trajanon.common.atomic_output import replacing
from trajanon.common.errors import (
    BadInput,
    FileProblem,
    LeftOutWarning,
    ServerProblem,
    TrajanonWarning,
)
from trajanon.common.hashing import hashes_of
from trajanon.common.number_text import number_of
from trajanon.common.progress import Notices, Progress, silent
from trajanon.extract.earth.area import Area, Box, Region
from trajanon.extract.rules import MAX_PAGES, SERVER
from trajanon.extract.sources.archives import DAMAGED
from trajanon.extract.sources.gpx_document import ApiPage, read_document
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.trace_pieces import joined_trace
from trajanon.extract.trace import Trace

if TYPE_CHECKING:
    from requests import Response

logger = logging.getLogger(__name__)

MAX_AREA = 0.25  # square degrees; the server refuses more
PAUSE = 1.0  # seconds between two requests: the API is for editing, and we are guests

LONGEST_CUT = 300.0  # seconds that may pass between the last point of a page and the next one

WITHOUT_TIME = "points without time"
REPEATED = "points repeated by a shifted page"

TIMEOUT = (10.0, 310.0)  # seconds to connect and to wait; the server itself gives up after 300
LONGEST_WAIT = 3600.0  # seconds; a server that asks for more is not waited for

BUSY = (429, 503, 509)
LATER = (408, 500, 502, 504, *BUSY)  # statuses after which a request may well succeed

# Behind a kept page: the query of the page after it. An XML comment could not hold two dashes.
_NEXT = re.compile(rb"\n<\?trajanon-next (\S+)\?>\n\Z")

_SERVER = re.compile(r"https?://([^/@]*@)?[^/@:]+(:\d{1,5})?(/.*)?")

Query = Mapping[str, str]


class _Answer(NamedTuple):
    content: bytes  # a page, as the server sent it
    following: Query | None  # asks for the next page; empty after the last, None if not named

    def kept(self) -> bytes:
        """Write the page with the query of the next one behind it."""
        if self.following is None:
            return self.content
        query = urlencode(self.following) or "none"
        return self.content + f"\n<?trajanon-next {query}?>\n".encode()


@dataclass(kw_only=True)
class NumberedPages:
    """The pages of GET /api/0.6/trackpoints in their order: downloaded where no file is kept.

    If the server names the page after the first one, it names all others, too; else pages are asked
    for by their numbers.
    """

    box: Box  # where the points shall lie
    url: str = SERVER  # the server
    max_pages: int = MAX_PAGES  # how many pages to give at most
    cache: Path | None = None  # folder for the pages of all boxes; None for the user's cache folder
    progress: Progress = silent  # called after each page
    pause: float = PAUSE  # seconds between two requests
    warned: Notices = field(default_factory=Notices)

    def __post_init__(self) -> None:
        if (area := _square_degrees(self.box)) > MAX_AREA:
            why = f"the server allows at most {MAX_AREA}; use a smaller box, or GPX files"
            raise BadInput(f"the box {self.box} has {area:.3g} square degrees, {why}")
        if self.max_pages < 1:
            raise BadInput(f"`max_pages` must be at least 1 (got {self.max_pages})")

        if not _SERVER.fullmatch(self.url):
            raise BadInput(f"the server {self.url!r} must begin with https:// and a host")

        self._name = self.url.rstrip("/")
        self._address = f"{self._name}/api/0.6/trackpoints"
        self._last = -math.inf  # when the server was asked
        # Never 1e-05, which the server need not understand; it has seven decimals itself.
        self._bbox = ",".join(f"{side:.7f}".rstrip("0").rstrip(".") for side in self.box.sides)

        root = self.cache or platformdirs.user_cache_path("trajanon") / "osm-api"
        parts = urlsplit(self.url)
        names = (parts.netloc.rpartition("@")[2].lower(), parts.path.strip("/"), self._bbox)
        self._folder = root / re.sub(r"[^\w.-]", "_", "_".join(filter(None, names)))

    def __iter__(self) -> Iterator[ApiPage]:
        """Return the pages, from the cache where it has them."""
        import requests

        with suppress(OSError):  # then it cannot be written, which is said
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if kept := self._kept():
            day = datetime.fromtimestamp(self._path(0).stat().st_mtime).astimezone()
            msg = "%s from the cache of %s; to ask for new ones, remove %s"
            logger.info(msg, number_of(kept, "page"), day.date(), self._folder)

        with requests.Session() as self._session:
            self._session.headers["User-Agent"] = (
                f"trajanon/{version('trajanon')} (+https://github.com/trajanon/trajanon)"
            )
            query: Query = {"bbox": self._bbox}
            for number in range(self.max_pages):
                page, following = self._page(number, query)
                self.progress("Reading pages of the OSM server", number + 1, None)
                yield page
                if following == {}:
                    yield []  # nothing follows
                    return
                query = following or {"bbox": self._bbox, "page": str(number + 1)}

        # Of numbered pages the end is known only once the page after the last has been requested.
        pages = number_of(self.max_pages, "page")
        msg = f"stopped after {pages} of the box {self.box}, the server may have more: "
        message = f"{msg}`max_pages` raises it"
        self.warned.warn(LeftOutWarning(message, "more pages", self._bbox))

    def _page(self, number: int, query: Query) -> tuple[ApiPage, Query | None]:
        """Read a page and the query of the next one; download what is not there, or damaged."""
        path = self._path(number)
        with suppress(*DAMAGED):  # a `FileProblem` among them
            content = gzip.decompress(path.read_bytes())
            match = _NEXT.search(content)
            following = dict(parse_qsl(match[1].decode())) if match else None
            # Numbers and names count pages differently: the one never goes on where the other was.
            if not number or (following is None) == ("page" in query):
                return read_document(content, str(path)), following

        answer = self._downloaded(number, query)
        try:
            page = read_document(answer.content, f"page {number}")
        except FileProblem as error:
            what = f"something else than GPX as page {number}"
            raise ServerProblem(f"{self._name} sent {what}; {self._way_on()}") from error

        try:
            with replacing(path) as (draft,):
                draft.write_bytes(gzip.compress(answer.kept()))
        except OSError as error:
            why = error.strerror or error
            msg = f"cannot keep pages in {self._folder} ({why}): an interrupted download is lost"
            self.warned.warn(TrajanonWarning(msg, "cache", str(self._folder)))
        return page, answer.following

    def _path(self, number: int) -> Path:
        return self._folder / f"page{number:04d}.gpx.gz"

    def _kept(self) -> int:
        return sum(1 for _ in self._folder.glob("page*.gpx.gz"))

    def _way_on(self) -> str:
        """Report what is kept, and how to go on after a failure."""
        kept = f"the pages downloaded so far ({self._kept()}) are kept, " * (self._kept() > 0)
        return f"{kept}run the same command again to go on"

    def _downloaded(self, number: int, query: Query) -> _Answer:
        """Download a page: a busy server is asked five times, a failing one three times."""
        from requests import RequestException
        from urllib3.exceptions import InvalidHeader
        from urllib3.util import Retry

        for tried in count():
            if (rest := self._last + self.pause - time.monotonic()) > 0.0:
                time.sleep(rest)

            waits = [5.0, 10.0]
            try:
                answer = self._session.get(self._address, params=query, timeout=TIMEOUT)
            except RequestException as error:
                why = f"page {number} broke off ({type(error).__name__})"
                problem = (
                    f"{self._name} cannot be reached, or {why}: check the connection, or proxy"
                )
            else:
                if answer.status_code == 200:
                    return self._answered(answer, number, query)

                # Words of the application, or of a proxy before it, which likes to speak HTML.
                words = " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())[:300]
                refused = f"({answer.status_code}: {words or answer.reason})"
                problem = f"{self._name} refuses page {number} {refused}"
                if answer.status_code not in LATER:
                    raise ServerProblem(problem)
                if answer.status_code in BUSY:
                    waits = [60.0, 120.0, 240.0, 480.0]
                    with suppress(KeyError, InvalidHeader):
                        seconds = Retry().parse_retry_after(answer.headers["Retry-After"])
                        waits = [seconds or wait for wait in waits if seconds <= LONGEST_WAIT]
            finally:
                self._last = time.monotonic()

            if tried >= len(waits):
                break
            logger.warning("%s; trying again in %.0f s", problem, waits[tried])
            time.sleep(waits[tried])
        raise ServerProblem(f"{problem}; {self._way_on()}")

    def _answered(self, answer: "Response", number: int, query: Query) -> _Answer:
        """Read from the headers of a page what asks for the next one.

        Of a link, which may lead elsewhere, only what it asks for is taken.
        """
        link = answer.links.get("next", {}).get("url")
        if "page" in query or not (link or number):
            return _Answer(answer.content, None)
        asks_for = dict(parse_qsl(link.partition("?")[2])) if link else None
        return _Answer(answer.content, {**asks_for, "bbox": self._bbox} if asks_for else {})


def traces_of_boxes(
    boxes: Sequence[Box], reading: Reading, *, url: str, max_pages: int, progress: Progress
) -> Iterator[tuple[int, Trace]]:
    """Ask the server for the traces of boxes, each with the number of its box."""
    pages_of_boxes = [
        NumberedPages(
            box=box, url=url, max_pages=max_pages, progress=progress, warned=reading.warned
        )
        for box in boxes
    ]
    for number, pages in enumerate(pages_of_boxes):
        # Trackable recordings have no other name than their place in a row.
        of_box = replace(reading, label=f"box {number + 1}: ")
        for trace in joined_traces(pages, of_box):
            yield number, trace
    reading.warned.tell_others()


def boxes_of(area: Area) -> list[Box]:
    """Return the boxes to ask for: one for all, if the server takes it, or one a part."""
    bounds = area.bounds
    if _square_degrees(bounds) > MAX_AREA and isinstance(area, Region):
        return [Box(*part.bounds) for part in get_parts(area.shape)]
    return [bounds]  # which is refused, with the numbers, if it is too large


def _square_degrees(box: Box) -> float:
    return (box.east - box.west) * (box.north - box.south)


def joined_traces(
    pages: Iterable[ApiPage], reading: Reading, *, saved: bool = False
) -> Iterator[Trace]:
    """Join the pieces of each trace; leave out what has no time or came before.

    Of a server's pages, none is read after the first that brings nothing new or points without
    time; if there is no such page, the last trace is cut off.
    """
    first_pages: dict[int, int] = {}  # of each point, by its hash
    held: list[Trace] = []  # the pieces of one trace
    name = ""
    trackables = 0
    cut_off = not saved
    for number, page in enumerate(pages):
        parts = _new_parts(page, number, first_pages, reading)
        track = ""
        for part in parts:
            # A page's first segment may be of the last one's recording, which may also have paused
            # just where the page was cut. Two recordings taken for one count as one subject, which
            # is safe; one taken for two would not be.
            goes_on = part is parts[0] and bool(held) and held[-1].subject == part.subject
            pause = part.time[0] - held[-1].time[-1] if goes_on else 0.0
            goes_on = goes_on and bool(part.subject or pause >= 0.0)
            if goes_on and (part.subject or pause <= LONGEST_CUT):
                held.append(part)
            else:
                yield from _whole(held, name, reading)
                if part.name != track and not goes_on:
                    trackables += part.subject is None
                    name = part.subject or f"{reading.label}trackable {trackables}"
                held = [part]
            track = part.name

        untimed = any(not np.isfinite(segment.time).any() for segment in page)
        if saved or (parts and not untimed):
            continue
        if page and not untimed:
            reading.found("repeated page", label=reading.label)
        cut_off = False
        break
    yield from _whole(held, name, reading, cut_off=cut_off)


def _new_parts(
    page: ApiPage, number: int, first_pages: dict[int, int], reading: Reading
) -> list[Trace]:
    """Return what each segment has left of timed points no earlier page had."""
    timed = [segment.take(np.isfinite(segment.time)) for segment in page]
    hashes = [hashes_of(segment.lat, segment.lon, segment.time) for segment in timed]
    all_hashes = np.concatenate([*hashes, np.empty(0, dtype=np.uint64)])

    # Inside a page, a receiver that stood still may repeat itself.
    new = np.array(
        [first_pages.setdefault(point, number) == number for point in all_hashes.tolist()], bool
    )
    reading.counts[WITHOUT_TIME] += sum(map(len, page)) - len(new)
    reading.counts[REPEATED] += len(new) - int(new.sum())

    ends = np.cumsum([*map(len, timed)])
    parts = map(Trace.take, timed, np.split(new, ends[:-1]))
    return list(filter(len, parts))


def _whole(
    parts: Sequence[Trace], name: str, reading: Reading, *, cut_off: bool = False
) -> Iterator[Trace]:
    """Join the pieces of a trace, if there are any."""
    if not parts:
        return

    subject = parts[0].subject
    if subject is not None:  # it names the account, /user/NAME/traces/ID, or stands for one
        match = re.search(r"/user/([^/]+)/traces/", subject)
        subject = f"osm:{match[1] if match else subject}"
    yield replace(joined_trace(parts), name=name, subject=subject, cut_off=cut_off)
