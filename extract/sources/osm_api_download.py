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
from http import HTTPStatus
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
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
from trajanon.extract.options_and_defaults import SourceOptions
from trajanon.extract.sources.archives import DAMAGED
from trajanon.extract.sources.gpx import read_document
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.trace_pieces import joined_trace
from trajanon.extract.trace import Trace

if TYPE_CHECKING:
    from requests import Response

logger = logging.getLogger(__name__)

WITHOUT_TIME = "points without time"
REPEATED = "points repeated by a shifted page"

MAX_AREA = 0.25  # square degrees; the server refuses more
FULL_PAGE = 4_900  # points, of up to 5,000: the server parts no second in which a trace goes on
LONGEST_CUT = 300.0  # seconds that may pass between the last point of a page and the next one

# Seconds: between two requests, as the API is for editing, and we are guests; to connect, and to
# wait, as the server itself gives up after 300; and what a server may ask us to wait at most.
PAUSE = 1.0
TIMEOUT = (10.0, 310.0)
LONGEST_WAIT = 3600.0

# Statuses of a server that is busy, and all after which a request may well succeed; with the
# seconds to wait before each new trial.
_BUSY = (429, 503, 509)
_FAILED = (408, 500, 502, 504)
_WAITS_IF_BUSY = (60.0, 120.0, 240.0, 480.0)
_WAITS_IF_FAILED = (5.0, 10.0)

# Behind a page, as it is kept: the query of the page after it. An XML comment could not hold two
# dashes.
_NEXT = re.compile(rb"\n<\?trajanon-next (\S+)\?>\n\Z")

_SERVER = re.compile(r"https?://([^/@]*@)?[^/@:]+(:\d{1,5})?(/.*)?")

Query = Mapping[str, str]
"""What is asked of the server, by name, such as its page 3."""

ApiPage = list[Trace]
"""A page of the server's trackpoints, perhaps saved to a file: its segments with a point."""


@dataclass(kw_only=True)
class NumberedPages:
    """The pages of GET /api/0.6/trackpoints in their order: downloaded where no file is kept.

    If the server names the page after the first one, it names all others, too; else pages are asked
    for by their numbers.
    """

    box: Box  # where the points shall lie
    options: SourceOptions = field(default_factory=SourceOptions)  # the server, and the most pages
    progress: Progress = silent  # called after each page
    warned: Notices = field(default_factory=Notices)

    def __post_init__(self) -> None:
        area = _square_degrees(self.box)
        if area > MAX_AREA:
            why = f"the server allows at most {MAX_AREA}; use a smaller box, or GPX files"
            raise BadInput(f"the box {self.box} has {area:.3g} square degrees, {why}")
        url = self.options.api_url
        self._server = without_password(url)
        if not _SERVER.fullmatch(url):
            raise BadInput(f"the server {self._server!r} must begin with https:// and a host")

        self._address = f"{url.rstrip('/')}/api/0.6/trackpoints"
        self._last_asked = -math.inf  # by the clock of `time.monotonic`
        # Never 1e-05, which the server need not understand; it has seven decimals itself.
        self._bbox = ",".join(f"{side:.7f}".rstrip("0").rstrip(".") for side in self.box.sides)

        # A folder in the cache for each server and box.
        cache = platformdirs.user_cache_path("trajanon") / "osm-api"
        parts = urlsplit(self._server)
        names = (parts.netloc.lower(), parts.path.strip("/"), self._bbox)
        self._folder = cache / re.sub(r"[^\w.-]", "_", "_".join(filter(None, names)))

    def __iter__(self) -> Iterator[ApiPage]:
        """Return the pages, from the cache where it has them."""
        import requests

        with suppress(OSError):  # then it cannot be written, which is reported with the first page
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if kept := self._kept_pages():
            day = datetime.fromtimestamp(kept[0].stat().st_mtime).astimezone()
            message = "%s from the cache of %s; to ask for new ones, remove %s"
            logger.info(message, number_of(len(kept), "page"), day.date(), self._folder)

        with requests.Session() as self._session:
            self._session.headers["User-Agent"] = (
                f"trajanon/{version('trajanon')} (+https://github.com/trajanon/trajanon)"
            )
            query: Query = {"bbox": self._bbox}
            for number in range(self.options.max_pages):
                page, next_query = self._page(number, query)
                self.progress("Reading pages of the OSM server", number + 1, None)
                yield page
                if next_query == {}:
                    yield []  # an empty page: the last trace is then known not to be cut off
                    return
                query = next_query or {"bbox": self._bbox, "page": str(number + 1)}

        # Of numbered pages the end is known only once the page after the last has been requested.
        pages = number_of(self.options.max_pages, "page")
        stopped = f"stopped after {pages} of the box {self.box}, the server may have more"
        message = f"{stopped}: `max_pages` raises it"
        self.warned.warn(LeftOutWarning(message, "more pages", self._bbox))

    def _page(self, number: int, query: Query) -> tuple[ApiPage, Query | None]:
        """Read a page and the query of the next one; download what is not there, or damaged."""
        path = self._folder / f"page{number:04d}.gpx.gz"
        with suppress(*DAMAGED):  # a `FileProblem` among them
            kept = gzip.decompress(path.read_bytes())
            next_query = _next_query(kept)
            # Numbers and names count pages differently: the one never goes on where the other was.
            kept_by_number = next_query is None
            asked_by_number = "page" in query
            if number == 0 or kept_by_number == asked_by_number:
                return read_document(kept, str(path)), next_query

        content = self._downloaded(number, query)
        try:
            page = read_document(content, f"page {number}")
        except FileProblem as error:
            what = f"something else than GPX as page {number}"
            raise ServerProblem(f"{self._server} sent {what}; {self._way_on()}") from error

        try:
            with replacing(path) as (draft,):
                draft.write_bytes(gzip.compress(content))
        except OSError as error:
            why = error.strerror or error
            lost = f"cannot keep pages in {self._folder} ({why}): an interrupted download is lost"
            self.warned.warn(TrajanonWarning(lost, "cache", str(self._folder)))
        return page, _next_query(content)

    def _kept_pages(self) -> list[Path]:
        """List the files of the pages that are kept."""
        return sorted(self._folder.glob("page*.gpx.gz"))

    def _way_on(self) -> str:
        """Write what is kept, and how to go on after a failure."""
        kept = self._kept_pages()
        pages = f"the pages downloaded so far ({len(kept)}) are kept, " if kept else ""
        return f"{pages}run the same command again to go on"

    def _downloaded(self, number: int, query: Query) -> bytes:
        """Download a page, as it is kept: a busy server is asked five times, a failing one three.

        The query of the page after it stands behind it, if the server names it.
        """
        from requests import RequestException

        for trial in count():
            rest = self._last_asked + PAUSE - time.monotonic()
            if rest > 0.0:
                time.sleep(rest)

            waits: Sequence[float] = _WAITS_IF_FAILED
            try:
                response = self._session.get(self._address, params=query, timeout=TIMEOUT)
            except RequestException as error:
                why = f"page {number} broke off ({type(error).__name__})"
                unreachable = f"{self._server} cannot be reached"
                problem = f"{unreachable}, or {why}: check the connection, or proxy"
            else:
                if response.status_code == HTTPStatus.OK:
                    return response.content + self._next_page(response, number, query)
                problem = f"{self._server} refuses page {number} {_refusal(response)}"
                if response.status_code in _BUSY:
                    waits = _waits_of_busy(response)
                elif response.status_code not in _FAILED:
                    raise ServerProblem(problem)
            finally:
                self._last_asked = time.monotonic()

            if trial >= len(waits):
                break
            logger.warning("%s; trying again in %.0f s", problem, waits[trial])
            time.sleep(waits[trial])
        raise ServerProblem(f"{problem}; {self._way_on()}")

    def _next_page(self, response: "Response", number: int, query: Query) -> bytes:
        """Write what asks for the next page, if the headers name it, or say that there is none.

        Of a link, which may lead elsewhere, only what it asks for is taken.
        """
        link = response.links.get("next", {}).get("url")
        asked_by_number = "page" in query
        names_no_next_page = number == 0 and not link  # an older server, which numbers pages
        if asked_by_number or names_no_next_page:
            return b""
        asks_for = dict(parse_qsl(link.partition("?")[2])) if link else None
        next_query = urlencode({**asks_for, "bbox": self._bbox}) if asks_for else "none"
        return f"\n<?trajanon-next {next_query}?>\n".encode()


def _next_query(content: bytes) -> Query | None:
    """Read what asks for the next page; empty after the last page, None if none is named."""
    named = _NEXT.search(content)
    return dict(parse_qsl(named[1].decode())) if named else None


def without_password(url: str) -> str:
    """Return the address of a server without the user and password that it may hold."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _refusal(response: "Response") -> str:
    """Quote the words of the application, or of a proxy before it, which likes to speak HTML."""
    words = " ".join(re.sub(r"<[^>]*>", " ", response.text).split())[:300]
    return f"({response.status_code}: {words or response.reason})"


def _waits_of_busy(response: "Response") -> Sequence[float]:
    """Return the seconds to wait before each trial; as long as the server asks, if it does.

    Empty if that is too long: it is not asked again.
    """
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    with suppress(KeyError, InvalidHeader):
        seconds = Retry().parse_retry_after(response.headers["Retry-After"])
        # A date that has passed asks for no seconds: then our own waits hold.
        return [seconds or wait for wait in _WAITS_IF_BUSY if seconds <= LONGEST_WAIT]
    return _WAITS_IF_BUSY


def traces_of_boxes(
    boxes: Sequence[Box], reading: Reading, options: SourceOptions, progress: Progress
) -> Iterator[tuple[int, Trace]]:
    """Ask the server for the traces of boxes, each with the number of its box."""
    pages_of_boxes = [
        NumberedPages(box=box, options=options, progress=progress, warned=reading.warned)
        for box in boxes
    ]
    for number, pages in enumerate(pages_of_boxes):
        # Trackable recordings have no other name than their place in a row.
        of_box = replace(reading, label=f"box {number + 1}: ")
        for trace in joined_traces(pages, of_box):
            yield number, trace
    reading.warned.warn_of_hidden()  # how many more warnings there were than are shown


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
    time. Of saved pages, all are read. The last trace is cut off if the last page may have another
    one behind it, and so is a trace in which the file of a saved page breaks off.
    """
    first_pages: dict[int, int] = {}  # number of the page where each point came first, by its hash
    held: list[Trace] = []  # the pieces of one trace
    name = ""
    trackables = 0  # traces that name nobody, so far: the next one is named by this number
    may_have_next = False  # the page at hand
    for number, page in enumerate(pages):
        pieces = _new_pieces(page, number, first_pages, reading)
        track = ""  # the piece before; segments of one track share a name on their page
        for piece in pieces:
            is_first = piece is pieces[0]
            may_go_on = is_first and bool(held) and _may_go_on(held[-1], piece)
            if may_go_on and _goes_on_at_once(held[-1], piece):
                held.append(piece)
            else:
                # A saved page need not be the one that is behind the page before.
                is_cut_off = saved and may_have_next and is_first and not may_go_on
                yield from _whole(held, name, reading, is_cut_off=is_cut_off)
                if piece.name != track and not may_go_on:
                    trackables += piece.subject is None
                    name = piece.subject or f"{reading.label}trackable {trackables}"
                held = [piece]
            track = piece.name

        has_untimed = not all(segment.is_timed for segment in page)
        is_full = not saved or sum(map(len, page)) >= FULL_PAGE
        may_have_next = bool(page) and is_full and not has_untimed
        if saved:
            continue
        if may_have_next and not pieces:
            reading.found("repeated page", label=reading.label)
        if has_untimed or not pieces:
            break
    yield from _whole(held, name, reading, is_cut_off=may_have_next)


def _may_go_on(last: Trace, piece: Trace) -> bool:
    """Check whether a page's first segment may be of the last one's recording.

    The recording may also have paused where the page was cut. Two recordings taken for one count as
    one subject, which is safe; one taken for two would not be.
    """
    if last.subject != piece.subject:
        return False
    return bool(piece.subject) or bool(_seconds_between(last, piece) >= 0.0)


def _goes_on_at_once(last: Trace, piece: Trace) -> bool:
    """Check whether a segment that may be of the last one's recording is of the same trace.

    With a URL it surely is of the recording. Without one, a long pause begins a new trace, and so
    does what follows the damage of a page. It keeps the name, so that both count as one subject's.
    """
    return not last.cut_off and (
        bool(piece.subject) or _seconds_between(last, piece) <= LONGEST_CUT
    )


def _seconds_between(last: Trace, piece: Trace) -> float:
    return float(piece.time[0] - last.time[-1])


def _new_pieces(
    page: ApiPage, number: int, first_pages: dict[int, int], reading: Reading
) -> list[Trace]:
    """Return what each segment has left of timed points no earlier page had; note their page."""
    timed = [segment.take(np.isfinite(segment.time)) for segment in page]
    hashes = [hashes_of(segment.lat, segment.lon, segment.time) for segment in timed]
    all_hashes = np.concatenate([*hashes, np.empty(0, dtype=np.uint64)])

    # Inside a page, a receiver that stood still may repeat itself.
    is_new = np.array(
        [first_pages.setdefault(point, number) == number for point in all_hashes.tolist()], bool
    )
    reading.counts[WITHOUT_TIME] += sum(map(len, page)) - len(is_new)
    reading.counts[REPEATED] += len(is_new) - int(is_new.sum())

    ends = np.cumsum([*map(len, timed)])
    pieces = map(Trace.take, timed, np.split(is_new, ends[:-1]))
    return list(filter(len, pieces))


def _whole(
    pieces: Sequence[Trace], name: str, reading: Reading, *, is_cut_off: bool = False
) -> Iterator[Trace]:
    """Join the pieces of a trace, if there are any."""
    if not pieces:
        return

    subject = pieces[0].subject
    if subject is not None:
        # The address of a trace, /user/NAME/traces/ID, names the account; any other stands for one.
        match = re.search(r"/user/([^/]+)/traces/", subject)
        subject = f"osm:{match[1] if match else subject}"
    whole = joined_trace(pieces)
    # No longer a segment of a saved page.
    is_cut_off = is_cut_off or whole.cut_off
    yield replace(whole, name=name, subject=subject, cut_off=is_cut_off, page="")
