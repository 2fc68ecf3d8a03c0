"""Make the bundled sample: synthetic traces, in the form of the OSM API's answers.

Run ``python -m trajanon.data.make_sample [FOLDER]``; the same pages come out on every machine. No
point in them was recorded by anyone.
"""

import gzip
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from trajanon.data import sample, traffic
from trajanon.data.network import City, Dice
from trajanon.data.streets import build_city
from trajanon.data.subjects import Subject, choose_way, make_subjects
from trajanon.data.traffic import Fix

SEED = 2026
SUBJECTS, TRACES, LEGACY_POINTS = 120, 300, 420
PAGE = 5000  # points in an answer of the API
FIRST_DAY = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp())
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- synthetic: made by data/make_sample.py, no real person's track -->
<gpx version="1.0" creator="OpenStreetMap.org" \
xmlns="http://www.topografix.com/GPX/1/0">
"""


@dataclass(slots=True)
class Upload:
    """A trace as the API knows it; without a subject if it is merely trackable."""

    subject: str | None
    segments: list[list[Fix]]
    number: int = field(default=0)

    @property
    def began(self) -> int:
        """Seconds since 1970-01-01 UTC at the first fix."""
        return self.segments[0][0].time or 0


def _recorded(city: City, subject: Subject, number: int, dice: Dice) -> list[Fix]:
    """Record a drive of a subject, with the faults that this number calls for."""
    fixes: list[Fix] = []
    while len(fixes) < 12:
        way, evening = choose_way(city, subject, dice)
        moments = traffic.drive(way, dice)
        if number % 23 == 5:
            moments = traffic.with_pause(moments, 0.55, dice.between(400.0, 1500.0))
        hour = dice.between(15.5, 19.0) if evening else dice.between(5.5, 8.5)
        began = FIRST_DAY + 86_400 * dice.below(120) + int(3600.0 * hour)
        rate = 5 if number in (70, 170) else 1
        every = 3.5 + dice.below(4)
        fixes = traffic.record(moments, began, every, dice, rate)
    if rate > 1:
        fixes = traffic.shuffled_in_seconds(fixes[:2500], dice)
    if number % 17 == 3:
        fixes = traffic.repeated(fixes, dice)
    if number % 60 == 11:
        fixes = traffic.set_back(fixes, dice)
    if number % 100 == 37:
        fixes = traffic.gone_wild(fixes, dice)
    return fixes


def _uploaded(fixes: list[Fix], subject: Subject, number: int) -> Upload:
    """Upload a drive: one in six trackable, a few of those in two segments."""
    # Everybody's first trace bears a name, so all subjects are in the pages.
    if number < SUBJECTS or number % 6 != 0:
        return Upload(subject.name, [fixes])
    half = len(fixes) // 2
    parts = [fixes[:half], fixes[half:]] if number % 24 == 0 else [fixes]
    return Upload(None, parts)


def make_uploads(dice: Dice) -> list[Upload]:
    """Make all that the pages hold, newest upload first, the cloud last."""
    city = build_city(dice)
    subjects = make_subjects(city, SUBJECTS, dice)
    uploads = []
    for number in range(TRACES):
        subject = subjects[number if number < SUBJECTS else dice.below(SUBJECTS)]
        fixes = _recorded(city, subject, number, dice)
        uploads.append(_uploaded(fixes, subject, number))
    uploads.sort(key=lambda upload: upload.began)
    latest = 900_000
    for upload in uploads:
        latest += 1 + dice.below(4)
        upload.number = latest
    old = [_recorded(city, subjects[at], -1, dice) for at in range(0, SUBJECTS, 12)]
    points = traffic.cloud(old)
    step = len(points) / LEGACY_POINTS
    legacy = [points[int(step * at)] for at in range(LEGACY_POINTS)]
    return [*uploads[::-1], Upload(None, [legacy])]


def _head_of(upload: Upload) -> Iterator[str]:
    yield "  <trk>\n"
    if upload.subject is not None:
        yield f"    <name>synthetic-{upload.number}.gpx</name>\n"
        yield "    <desc>Synthetic drive, nobody's</desc>\n"
        yield f"    <url>/user/{upload.subject}/traces/{upload.number}</url>\n"


def _points(fixes: list[Fix]) -> Iterator[str]:
    for fix in fixes:
        yield f'      <trkpt lat="{fix.lat:.7f}" lon="{fix.lon:.7f}">\n'
        if fix.time is not None:
            stamp = datetime.fromtimestamp(fix.time, UTC)
            yield f"        <time>{stamp:%Y-%m-%dT%H:%M:%SZ}</time>\n"
        yield "      </trkpt>\n"


def _page(rows: list[tuple[int, int, Fix]], uploads: list[Upload]) -> Iterator[str]:
    """One answer; a trace that the page before cut begins anew."""
    yield HEAD
    for at, ours in groupby(rows, key=lambda row: row[0]):
        yield from _head_of(uploads[at])
        for _, segment in groupby(ours, key=lambda row: row[1]):
            yield "    <trkseg>\n"
            yield from _points([fix for _, _, fix in segment])
            yield "    </trkseg>\n"
        yield "  </trk>\n"
    yield "</gpx>\n"


def make_pages(seed: int = SEED) -> list[str]:
    """Make the GPX text of each page."""
    uploads = make_uploads(Dice(seed))
    rows = [
        (at, part, fix)
        for at, upload in enumerate(uploads)
        for part, fixes in enumerate(upload.segments)
        for fix in fixes
    ]
    return [
        "".join(_page(rows[start : start + PAGE], uploads)) for start in range(0, len(rows), PAGE)
    ]


def write(folder: Path) -> None:
    """Write the pages as page000.gpx.gz and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(make_pages()):
        packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
        (folder / f"page{number:03d}.gpx.gz").write_bytes(packed)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else sample())
