"""Pages of GPS points, as the OSM API cuts them, put together to traces again.

The server sends all points of a box in one long row: identifiable and trackable
traces first, newest upload first, then all points of older, private uploads without
time, sorted by latitude: a cloud, not a way that anybody went.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from trajanon.extract.sources.gpx_document import Document, Segment
from trajanon.extract.trace import Trace

logger = logging.getLogger(__name__)

LONGEST_CUT = 300.0
"""Seconds that may pass between the last point of a page and the next one."""

UNTIMED = "points without time"
REPEATED = "points repeated by a shifted page"


def traces(
    pages: Iterable[Document],
    dropped: Counter[str] | None = None,
    *,
    every_page: bool = False,
    where: str = "",
) -> Iterator[Trace]:
    """Join the pieces of each trace; leave out what has no time or came before.

    Parameters
    ----------
    pages
        The server's answers, in its order. After a page with a segment that has no
        time, and after one without a new point, no other page is asked for.
    dropped
        Counts the points left out, under `UNTIMED` and `REPEATED`.
    every_page
        Go on to the last page all the same: for pages at hand, perhaps of several
        boxes, which cost the server nothing.
    where
        What the names of trackable traces begin with; to tell several calls apart.

    Yields
    ------
    Trace
        One for each segment of a recording. An identifiable one has its url as name
        and its account as subject; a trackable one has a number and no subject.
    """
    joiner = _Joiner(Counter() if dropped is None else dropped, where)
    for page in pages:
        seen_before = len(joiner.seen)
        yield from joiner.add(page)
        nothing_new = len(joiner.seen) == seen_before
        if every_page:
            continue
        if nothing_new and page.segments and not _holds_untimed(page):
            logger.warning(
                "the server repeated a whole page, perhaps because of an upload just "
                "now; what follows it is not read (--refresh asks for all pages again)"
            )
        if nothing_new or _holds_untimed(page):
            break
    yield from joiner.rest()


class _Joiner:
    """Holds the last trace back until the next page has shown how it goes on."""

    def __init__(self, dropped: Counter[str], where: str) -> None:
        self.dropped = dropped
        self.where = where
        self.seen: set[int] = set()
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
        parts = []
        on_this_page: set[int] = set()
        for segment in page.segments:
            timed = _only(segment, np.isfinite(segment.time))
            points = _hashes(timed)
            new = np.array([point not in self.seen for point in points], dtype=bool)
            self.dropped[UNTIMED] += len(segment.time) - len(timed.time)
            self.dropped[REPEATED] += int((~new).sum())
            on_this_page.update(points)
            if new.any():
                parts.append(_only(timed, new))
        # Only now: inside a page, a receiver that stood still repeats itself.
        self.seen |= on_this_page
        return parts

    def _may_go_on(self, part: Segment) -> bool:
        """Tell whether a page's first segment may be of the last one's recording.

        Two recordings taken for one count as one subject, which is safe; one taken for
        two would not be.
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


def _only(segment: Segment, keep: NDArray[np.bool_]) -> Segment:
    return Segment(
        track=segment.track,
        url=segment.url,
        lat=segment.lat[keep],
        lon=segment.lon[keep],
        time=segment.time[keep],
    )


def _hashes(segment: Segment) -> list[int]:
    columns = (segment.lat, segment.lon, segment.time)
    return [
        hash(point)
        for point in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _holds_untimed(page: Document) -> bool:
    return any(not np.isfinite(segment.time).any() for segment in page.segments)


def _account(url: str) -> str:
    """Name the account of `/user/NAME/traces/ID`, or the url if it has none."""
    found = re.search(r"/user/([^/]+)/traces/", url)
    return f"osm:{found[1] if found else url}"
