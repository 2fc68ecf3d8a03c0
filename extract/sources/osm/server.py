"""The OSM server: asked over one connection, slowly, and with patience."""

import logging
import math
import re
import time
from contextlib import suppress
from importlib.metadata import version

import requests
from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

from trajanon.errors import ServerProblem

logger = logging.getLogger(__name__)

TIMEOUT = (10.0, 310.0)  # seconds to connect and to wait; the server itself gives up after 300
LONGEST_WAIT = 3600.0  # seconds; a server that asks for more is not waited for

BUSY = {429, 503, 509}
FAILED = {408, 500, 502, 504}

WAITS_WHERE_BUSY = (60.0, 120.0, 240.0, 480.0)
WAITS_AFTER_FAILURES = (5.0, 10.0)
"""Seconds before each further try, where the server does not say how long."""

_PASSING = {
    requests.exceptions.ProxyError: "cannot reach {} through the proxy: check its settings",
    requests.exceptions.SSLError: "cannot trust {}: its certificate is not valid here",
    requests.ConnectionError: "cannot reach {}: check the connection",
    requests.Timeout: "cannot reach {}: check the connection",
    requests.exceptions.ChunkedEncodingError: "the answer of {} broke off",
    requests.exceptions.ContentDecodingError: "the answer of {} broke off",
}
"""What to say of errors that may pass; the first that fits."""


class TryAgain(Exception):
    """A request that may well succeed later."""

    def __init__(self, message: str, *, busy: bool = False, wait: float = 0.0) -> None:
        super().__init__(message)
        self.busy = busy
        self.wait = wait


class Server:
    """Asks for one page after the other, and not too often."""

    def __init__(self, session: requests.Session, url: str, pause: float) -> None:
        self.name = url.rstrip("/")
        self._session = session
        self._session.headers["User-Agent"] = (
            f"trajanon/{version('trajanon')} (+https://github.com/trajanon/trajanon)"
        )
        self._pause = pause
        self._asked = -math.inf

    def page(self, bbox: str, number: int) -> bytes:
        """Download a page of a box; raise TryAgain when patience is at its end."""
        waits = {True: iter(WAITS_WHERE_BUSY), False: iter(WAITS_AFTER_FAILURES)}
        while True:
            try:
                return self._try(bbox, number)
            except TryAgain as again:
                wait = next(waits[again.busy], math.inf)
                if wait < math.inf and again.wait:
                    wait = again.wait
                if wait > LONGEST_WAIT:
                    raise
                logger.warning("%s; trying again in %.0f s", again, wait)
                time.sleep(wait)

    def _try(self, bbox: str, number: int) -> bytes:
        if (rest := self._asked + self._pause - time.monotonic()) > 0:
            time.sleep(rest)
        try:
            answer = self._session.get(
                f"{self.name}/api/0.6/trackpoints",
                params={"bbox": bbox, "page": str(number)},
                timeout=TIMEOUT,
            )
        except requests.RequestException as error:
            for kind, words in _PASSING.items():
                if isinstance(error, kind):
                    raise TryAgain(words.format(self.name)) from error
            raise ServerProblem(
                f"{self.name} cannot be asked for page {number}: {error}"
            ) from error
        finally:
            self._asked = time.monotonic()
        if answer.status_code == requests.codes.ok:
            return answer.content
        # Words of the application, or of a proxy before it, which likes to speak HTML.
        words = " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())[:300]
        said = f"({answer.status_code}: {words or answer.reason})"
        if answer.status_code in BUSY:
            msg, wait = f"{self.name} is busy {said}", 0.0
            with suppress(KeyError, InvalidHeader):
                wait = Retry().parse_retry_after(answer.headers["Retry-After"])
            raise TryAgain(msg, busy=True, wait=wait)
        if answer.status_code in FAILED:
            raise TryAgain(f"{self.name} failed at page {number} {said}")
        raise ServerProblem(f"{self.name} refused page {number} {said}")
