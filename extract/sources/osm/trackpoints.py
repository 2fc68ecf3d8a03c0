"""Pages of GPS points, as the OSM API cuts them, put together to traces again.

The server sends all points of a box in one long row: identifiable and trackable traces first,
newest upload first, then all points of older, private uploads without time, sorted by latitude: a
cloud, not a track.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from trajanon.extract.fingerprints import Owners, hashes_of
from trajanon.extract.sources.gpx.gpx_document import Document, Segment
from trajanon.extract.trace import Trace

logger = logging.getLogger(__name__)

LONGEST_CUT = 300.0
"""Seconds that may pass between the last point of a page and the next one."""

WITHOUT_TIME = "points without time"
REPEATED = "points repeated by a shifted page"


def joined_traces(
    pages: Iterable[Document], dropped: Counter[str] | None = None, where: str = ""
) -> Iterator[Trace]:
    """Join the pieces of each trace; leave out what has no time or came before."""
    joiner = Joiner(Counter() if dropped is None else dropped, where)
    for page in pages:
        yield from joiner.add(page)
        nothing_new = not joiner.new_points
        if nothing_new and page.segments and not _holds_untimed(page):
            logger.warning(
                "the server repeated a whole page, perhaps because of an upload just "
                "now; what follows it is not read (`refresh` asks for all pages again)"
            )
        if nothing_new or _holds_untimed(page):
            break
    yield from joiner.rest()


class Joiner:
    """Holds the last trace back until the next page has shown how it goes on."""

    def __init__(self, dropped: Counter[str], where: str = "") -> None:
        self.dropped = dropped
        self.where = where
        self.new_points = 0  # of the last page
        self._first_pages = Owners()
        self._page = 0
        self._held: list[Segment] = []  # the pieces of one trace
        self._name = ""
        self._trackables = 0

    def add(self, page: Document) -> Iterator[Trace]:
        """Yield the traces that are known to be complete."""
        track = 0
        for number, part in enumerate(self._new_parts(page)):
            # A trackable recording may also have paused just where the page was cut.
            same = number == 0 and self._may_go_on(part)
            if same and self._goes_on(part):
                self._held.append(part)
            else:
                yield from self.rest()
                if part.track != track and not same:
                    self._name = part.url or self._next_trackable()
                self._held = [part]
            track = part.track

    def rest(self) -> Iterator[Trace]:
        """Yield the trace that was held back, if there is one."""
        if not self._held:
            return
        url = self._held[0].url
        yield Trace(
            name=self._name,
            subject=None if url is None else _account(url),
            lat=np.concatenate([part.lat for part in self._held]),
            lon=np.concatenate([part.lon for part in self._held]),
            time=np.concatenate([part.time for part in self._held]),
        )
        self._held = []

    def _new_parts(self, page: Document) -> list[Segment]:
        """Give what each segment has left of timed points no earlier page had."""
        timed = [one.take(np.isfinite(one.time)) for one in page.segments]
        points = sum(len(one.time) for one in page.segments)
        hashes = [hashes_of(one.lat, one.lon, one.time) for one in timed]
        found = np.concatenate([*hashes, np.empty(0, dtype=np.uint64)])
        # Inside a page, a receiver that stood still may repeat itself.
        first_page = self._first_pages.of(found, np.full(len(found), self._page))
        new = first_page == self._page
        self._page += 1
        self.new_points = int(new.sum())
        self.dropped[WITHOUT_TIME] += points - len(new)
        self.dropped[REPEATED] += len(new) - self.new_points
        ends = np.cumsum([len(one.time) for one in timed])
        parts = map(Segment.take, timed, np.split(new, ends[:-1]))
        return [part for part in parts if len(part.time)]

    def _may_go_on(self, part: Segment) -> bool:
        """Tell whether a page's first segment may be of the last one's recording.

        Two recordings taken for one count as one subject, which is safe; one taken for two would
        not be.
        """
        if not self._held or self._held[-1].url != part.url:
            return False
        return part.url is not None or bool(part.time[0] >= self._held[-1].time[-1])

    def _goes_on(self, part: Segment) -> bool:
        """Tell whether a segment that may go on does so without a long pause."""
        pause = part.time[0] - self._held[-1].time[-1]
        return part.url is not None or bool(pause <= LONGEST_CUT)

    def _next_trackable(self) -> str:
        self._trackables += 1
        return f"{self.where}trackable {self._trackables}"


def _holds_untimed(page: Document) -> bool:
    return any(not np.isfinite(segment.time).any() for segment in page.segments)


def _account(url: str) -> str:
    """Name the account of `/user/NAME/traces/ID`, or the url if it has none."""
    found = re.search(r"/user/([^/]+)/traces/", url)
    return f"osm:{found[1] if found else url}"
