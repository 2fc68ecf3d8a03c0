"""GPS points of a box from the OSM API, page by page, kept on disk."""

import gzip
import logging
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from itertools import count, takewhile
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import platformdirs
import requests
from urllib3.exceptions import InvalidHeader, MaxRetryError
from urllib3.util import Retry

from trajanon.errors import BadInput, FileProblem, ServerProblem
from trajanon.extract.areas import Box
from trajanon.extract.sources import gpx
from trajanon.extract.sources.trackpoints import Document
from trajanon.outputs import replacing
from trajanon.progress import Progress, silent

logger = logging.getLogger(__name__)

SERVER = "https://api.openstreetmap.org"
MAX_PAGES = 100
MAX_AREA = 0.25
"""Square degrees; the server refuses more."""

PAUSE = 1.0
"""Seconds between two requests: the API is for editing, and we are guests."""

TIMEOUT = (10.0, 310.0)
"""Seconds to connect and to wait; the server itself gives up after 300."""

LONGEST_WAIT = 3600.0
"""Seconds; who asks for more is not waited for."""

BUSY = {429, 503, 509}
FAILED = {408, 500, 502, 504}


class Pages(Protocol):
    """What the server knows of a box, in its order, however it is paged."""

    def __iter__(self) -> Iterator[Document]:
        """Give page after page; whoever reads them knows when to stop."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberedPages:
    """The pages 0, 1, ... of GET /api/0.6/trackpoints; each is downloaded once.

    Iterating raises ServerProblem if the server cannot be reached, refuses, or sends
    what is not GPX; the pages before stay in the cache, and iterating again goes on.

    Attributes
    ----------
    box
        Where the points shall lie.
    url
        The server.
    max_pages
        How many pages to give at most.
    cache
        Folder for the pages of all boxes; None for the user's cache folder.
    refresh
        Forget the pages of this box that are in the cache.
    progress
        Told after each page.
    pause
        Seconds between two requests.

    Raises
    ------
    BadInput
        If the box is larger than the server allows, or another value makes no sense.
    """

    box: Box
    url: str = SERVER
    max_pages: int = MAX_PAGES
    cache: Path | None = None
    refresh: bool = False
    progress: Progress = silent
    pause: float = PAUSE

    def __post_init__(self) -> None:
        area = (self.box.east - self.box.west) * (self.box.north - self.box.south)
        if area > MAX_AREA:
            msg = (
                f"the box {self.box} has {area:.3g} square degrees, the server gives "
                f"at most {MAX_AREA}; take a smaller box, or GPX files of the area"
            )
            raise BadInput(msg)
        if self.max_pages < 1:
            msg = f"--max-pages must be at least 1 (got {self.max_pages})"
            raise BadInput(msg)
        if not self.url.startswith(("https://", "http://")):
            msg = f"the server {self.url!r} must begin with https:// or http://"
            raise BadInput(msg)

    def __iter__(self) -> Iterator[Document]:
        """Give the pages, from the cache where it has them."""
        kept = _Cache(self)
        kept.open()
        with requests.Session() as session:
            server = _Server(session, self)
            for number in range(self.max_pages):
                page = kept.read(number)
                if page is None:
                    page = _download(server, kept, number)
                self.progress("Reading pages of the OSM server", number + 1, None)
                yield page
        # Whoever takes the last page and asks for one more has not seen the end.
        logger.warning(
            "stopped after %d pages, the server may have more: --max-pages raises it",
            self.max_pages,
        )


def _download(server: "_Server", kept: "_Cache", number: int) -> Document:
    try:
        content = server.page(number)
    except _Again as again:
        msg = f"{again}; {kept.way_on()}"
        raise ServerProblem(msg) from again
    try:
        page = gpx.read(content, f"page {number}")
    except FileProblem as error:
        msg = (
            f"{server.name} sent something else than GPX as page {number}; "
            f"{kept.way_on()}"
        )
        raise ServerProblem(msg) from error
    kept.write(number, content)
    return page


class _Patience(Retry):
    """Counts tries; waits before the second one already, then twice as long."""

    def get_backoff_time(self) -> float:
        return float(self.backoff_factor * 2 ** (len(self.history) - 1))


class _Again(Exception):
    """A request that may well succeed later."""

    def __init__(self, message: str, *, busy: bool = False, wait: float = 0.0) -> None:
        super().__init__(message)
        self.busy = busy
        self.wait = wait


class _Server:
    """Asks for one page after the other, and not too often."""

    def __init__(self, session: requests.Session, pages: NumberedPages) -> None:
        self.name = pages.url.rstrip("/")
        self._session = session
        self._session.headers["User-Agent"] = (
            f"trajanon/{version('trajanon')} (+https://github.com/trajanon/trajanon)"
        )
        self._bbox = _bbox(pages.box)
        self._pause = pages.pause
        self._asked = -float("inf")

    def page(self, number: int) -> bytes:
        """Download a page; raise _Again when patience is at its end."""
        patience: dict[bool, Retry] = {
            True: _Patience(total=4, backoff_factor=60),
            False: _Patience(total=2, backoff_factor=5),
        }
        while True:
            try:
                return self._try(number)
            except _Again as again:
                try:
                    left = patience[again.busy].increment("GET", self.name)
                except MaxRetryError:
                    raise again from None
                wait = again.wait or left.get_backoff_time()
                if wait > LONGEST_WAIT:
                    raise
                patience[again.busy] = left
                logger.warning("%s; trying again in %.0f s", again, wait)
                time.sleep(wait)

    def _try(self, number: int) -> bytes:
        if (rest := self._asked + self._pause - time.monotonic()) > 0:
            time.sleep(rest)
        try:
            answer = self._session.get(
                f"{self.name}/api/0.6/trackpoints",
                params={"bbox": self._bbox, "page": str(number)},
                timeout=TIMEOUT,
            )
        except (
            requests.ConnectionError,
            requests.Timeout,
            requests.exceptions.ChunkedEncodingError,
            requests.exceptions.ContentDecodingError,
        ) as error:
            raise _Again(_unreachable(self.name, error)) from error
        except requests.RequestException as error:
            msg = f"{self.name} cannot be asked for page {number}: {error}"
            raise ServerProblem(msg) from error
        finally:
            self._asked = time.monotonic()
        return _body(answer, self.name, number)


def _body(answer: requests.Response, server: str, number: int) -> bytes:
    status = answer.status_code
    if status == requests.codes.ok:
        return answer.content
    # Words of the application, or of a proxy before it, which likes to speak HTML.
    words = " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())[:300]
    said = f"{status}: {words or answer.reason}"
    if status in BUSY:
        msg = f"{server} is busy ({said})"
        raise _Again(msg, busy=True, wait=_retry_after(answer))
    if status in FAILED:
        msg = f"{server} failed at page {number} ({said})"
        raise _Again(msg)
    msg = f"{server} refused page {number} ({said})"
    raise ServerProblem(msg)


def _retry_after(answer: requests.Response) -> float:
    try:
        return Retry().parse_retry_after(answer.headers["Retry-After"])
    except (KeyError, InvalidHeader):
        return 0.0


def _unreachable(server: str, error: requests.RequestException) -> str:
    match error:
        case requests.exceptions.ProxyError():
            return f"cannot reach {server} through the proxy: check its settings"
        case requests.exceptions.SSLError():
            return f"cannot trust {server}: its certificate is not valid here"
        case requests.ConnectionError() | requests.Timeout():
            return f"cannot reach {server}: check the connection"
    return f"the answer of {server} broke off"


def _bbox(box: Box) -> str:
    # Never 1e-05, which the server need not understand; it has seven decimals itself.
    sides = (f"{side:.7f}".rstrip("0").rstrip(".") for side in box.sides)
    return ",".join(sides)


class _Cache:
    """The pages of one box of one server, a file each; nothing, if no disk will."""

    def __init__(self, pages: NumberedPages) -> None:
        root = pages.cache or platformdirs.user_cache_path("trajanon") / "osm-api"
        url = urlsplit(pages.url)
        parts = (url.hostname, url.port, url.path.strip("/"), _bbox(pages.box))
        name = "_".join(str(part) for part in parts if part)
        self._folder = root / re.sub(r"[^\w.-]", "_", name)
        self._refresh = pages.refresh
        self._reads = self._writes = True

    def open(self) -> None:
        """Make the folder; discard or announce what is in it."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for path in self._folder.glob("page*.gpx.gz") if self._refresh else ():
                path.unlink()
        except OSError as error:
            self._reads = False
            self._give_up(error)
        if kept := len(self):
            day = datetime.fromtimestamp(self._path(0).stat().st_mtime).astimezone()
            logger.info("%d pages from the cache of %s", kept, day.date())

    def __len__(self) -> int:
        """Count the pages without a gap."""
        if not self._reads:
            return 0
        return sum(1 for _ in takewhile(Path.exists, map(self._path, count())))

    def read(self, number: int) -> Document | None:
        """Read a page; None if it is not there, or damaged."""
        path = self._path(number)
        if not self._reads:
            return None
        try:
            return gpx.read(path.read_bytes(), str(path))
        except OSError:
            return None

    def write(self, number: int, content: bytes) -> None:
        """Keep a page, if the disk lets us."""
        if not self._writes:
            return
        try:
            with replacing(self._path(number)) as (draft,):
                draft.write_bytes(gzip.compress(content))
        except OSError as error:
            self._give_up(error)

    def way_on(self) -> str:
        """Say what is kept, and how to go on after a failure."""
        again = "run the same command again"
        if self._refresh:
            again = "run the command again without --refresh"
        if not len(self):
            return f"{again} later"
        return f"the {len(self)} pages downloaded so far are kept, {again} to go on"

    def _give_up(self, error: OSError) -> None:
        self._writes = False
        logger.warning(
            "cannot keep pages in %s (%s): an interrupted download starts anew",
            self._folder,
            error.strerror or error,
        )

    def _path(self, number: int) -> Path:
        return self._folder / f"page{number:04d}.gpx.gz"
