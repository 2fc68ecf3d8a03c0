"""Pages of GPS points, as the OSM API cuts them, put together to traces again.

The server sends all points of a box in one long row: identifiable and trackable traces first,
newest upload first, then all points of older, private uploads without time, sorted by latitude: a
cloud, not a track.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from trajanon.extract.duplicate_recordings import Owners
from trajanon.extract.sources.gpx.gpx_document import Document, Segment
from trajanon.extract.trace import Trace
from trajanon.hashing import hashes_of
from trajanon.notices import Notices

logger = logging.getLogger(__name__)

LONGEST_CUT = 300.0  # seconds that may pass between the last point of a page and the next one

WITHOUT_TIME = "points without time"
REPEATED = "points repeated by a shifted page"


def joined_traces(
    pages: Iterable[Document],
    dropped: Counter[str] | None = None,
    where: str = "",
    *,
    saved: bool = False,
    warned: Notices | None = None,
) -> Iterator[Trace]:
    """Join the pieces of each trace; leave out what has no time or came before.

    A trace is held back until the next page has shown how it goes on. All saved pages are read; of
    a server's, none after the first that brings nothing new or points without time. If there is no
    such page, the last trace is cut off.
    """
    dropped = Counter() if dropped is None else dropped
    first_pages = Owners()
    held: list[Segment] = []  # the pieces of one trace
    name, trackables, cut_off = "", 0, False
    for number, page in enumerate(pages):
        parts = _new_parts(page, number, first_pages, dropped)
        track = 0
        for part in parts:
            # A page's first segment may be of the last one's recording, which may also have paused
            # just where the page was cut. Two recordings taken for one count as one subject, which
            # is safe; one taken for two would not be.
            same = part is parts[0] and bool(held) and held[-1].url == part.url
            pause = part.time[0] - held[-1].time[-1] if same else 0.0
            same = same and bool(part.url or pause >= 0.0)
            if same and (part.url or pause <= LONGEST_CUT):
                held.append(part)
            else:
                yield from _whole(held, name)
                if part.track != track and not same:
                    trackables += part.url is None
                    name = part.url or f"{where}trackable {trackables}"
                held = [part]
            track = part.track
        untimed = any(not np.isfinite(segment.time).any() for segment in page.segments)
        if not saved and not parts and page.segments and not untimed:
            msg = (
                f"{where}the server repeated a whole page, perhaps because of an upload just "
                "now; what follows it is not read, until its pages are removed from the cache"
            )
            (warned or Notices()).warn(logger, "repeated page", msg, where)
        if not saved and (untimed or not parts):
            break
    else:
        cut_off = not saved
    yield from _whole(held, name, cut_off=cut_off)


def _new_parts(
    page: Document, number: int, first_pages: Owners, dropped: Counter[str]
) -> list[Segment]:
    """Give what each segment has left of timed points no earlier page had."""
    timed = [one.take(np.isfinite(one.time)) for one in page.segments]
    hashes = [hashes_of(one.lat, one.lon, one.time) for one in timed]
    found = np.concatenate([*hashes, np.empty(0, dtype=np.uint64)])
    # Inside a page, a receiver that stood still may repeat itself.
    new = first_pages.of(found, np.full(len(found), number)) == number
    dropped[WITHOUT_TIME] += sum(len(one.time) for one in page.segments) - len(new)
    dropped[REPEATED] += len(new) - int(new.sum())
    ends = np.cumsum([len(one.time) for one in timed])
    parts = map(Segment.take, timed, np.split(new, ends[:-1]))
    return [part for part in parts if len(part.time)]


def _whole(parts: Sequence[Segment], name: str, *, cut_off: bool = False) -> Iterator[Trace]:
    """Join the pieces of a trace, if there are any."""
    if parts:
        url, subject = parts[0].url, None
        if url is not None:  # it names the account, /user/NAME/traces/ID, or stands for one
            found = re.search(r"/user/([^/]+)/traces/", url)
            subject = f"osm:{found[1] if found else url}"
        lat = np.concatenate([part.lat for part in parts])
        lon = np.concatenate([part.lon for part in parts])
        time = np.concatenate([part.time for part in parts])
        yield Trace(name, subject, lat, lon, time, cut_off=cut_off)
