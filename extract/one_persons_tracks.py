"""One person's tracks, before they are shared: cut where they begin, end, pause and stay again.

This is not k-anonymity. What is left is the true way, and shows where the person goes elsewhere,
and where they stay once, in the middle of a track.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import shapely
from numpy.typing import ArrayLike

from trajanon.common.arrays import Floats, renumbered
from trajanon.common.atomic_output import check_outputs, replacing
from trajanon.common.errors import BadInput, NoTrajectories
from trajanon.common.progress import Progress, silent
from trajanon.extract.clip_to_area import keep
from trajanon.extract.earth.area import Region, around
from trajanon.extract.extraction import Source, traces
from trajanon.extract.gaps_and_stays import split_at_gaps
from trajanon.extract.hidden_homes_and_ends import RADIUS, Radius, check_radius, zone_centres
from trajanon.extract.impossible_and_stray_points import (
    drop_impossible,
    drop_strays,
    settle_times,
    sort_by_time,
)
from trajanon.extract.options_and_defaults import LEAST_GAP, LEAST_PAUSE, Rules
from trajanon.extract.points import Points, batch
from trajanon.extract.sources.trace_pieces import joined_pieces
from trajanon.files.geopackage_geojson_gpx_csv import GPX_HEAD
from trajanon.release.holder_key import check_key, holders_key
from trajanon.trajectories.tracks import refuse_off_earth

FORMATS = (".gpx", ".csv")

# The strictest limits that extraction finds: where a recorder stopped for longer, a track ends, and
# its ends are hidden.
_RULES = Rules(max_pause=LEAST_PAUSE, max_gap=LEAST_GAP)


@dataclass(frozen=True)
class Trimmed:
    """What a person's tracks were, and how much was cut out of them.

    Attributes
    ----------
    names
        How many names of persons the source has; all count as one.
    tracks, tracks_left
        Tracks that were read; those of which something is left.
    places
        How many circles were drawn to hide places: places near each other share one, and a place of
        ``hide`` has one even if no track comes near.
    metres, metres_cut, seconds, seconds_cut
        Metres and seconds of all tracks, and of what was cut out of them. Tracks without times have
        no seconds.
    points_dropped
        How many points are no places on Earth, are stray, or have no time in a track with times.
    unread
        How much readers left out, by reason; and how many pieces of tracks overlap in time.

    Examples
    --------
    >>> from trajanon.extract import Trimmed
    >>> trimmed = Trimmed(1, 2, 2, 3, 9_000.0, 2_500.0, 3_600.0, 900.0, 0, {})
    >>> f"{trimmed.places} circles drawn, {trimmed.metres_cut / trimmed.metres:.0%} cut"
    '3 circles drawn, 28% cut'
    """

    names: int
    tracks: int
    tracks_left: int
    places: int
    metres: float
    metres_cut: float
    seconds: float
    seconds_cut: float
    points_dropped: int
    unread: Mapping[str, int]


def trim(
    source: Source,
    out: str | os.PathLike[str],
    key: bytes | str | os.PathLike[str] | None = None,
    *,
    radius: Radius = RADIUS,
    hide: ArrayLike | None = None,
    times: bool = True,
    columns: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Trimmed:
    """Write one person's tracks without the places where they begin, end, pause and stay again.

    A place where the person stays once, in the middle of a track, is left in: name it in ``hide``.
    In tracks without times, pauses and stays are not known. Names, descriptions, devices, heights,
    heart rates and all else but places and times are left out.

    Parameters
    ----------
    source
        Files and folders of any kind that `extract` reads.
    out
        GPX or CSV to write; the suffix decides.
    key
        The holder's, or its file, which draws the circles that are cut out. None for the one of all
        releases, which is made if there is none. Trim all tracks together: another call with other
        tracks may draw another circle around the same place, and two show more of it.
    radius
        How far places are hidden.
    hide
        Further places to hide: latitude and longitude, shape (n, 2).
    times
        Whether to write times, where there are any.
    columns
        Columns of tables, as in `extract`.
    progress
        Called with the state of the work.

    Raises
    ------
    BadInput
        If the output has another suffix, a file makes no sense, the key is short or the radius
        narrow, or a place to hide is not on Earth.
    NoTrajectories
        If nothing is left.

    Examples
    --------
    A walk of 2,200 m to the north, without what is near its ends:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from trajanon.extract import trim
    >>> fixes = {"id": "walk", "lat": np.arange(41.0, 41.0205, 0.0005), "lon": 2.0}
    >>> pd.DataFrame(fixes).to_csv("walk.csv", index=False)
    >>> trimmed = trim("walk.csv", "shared.gpx", key=bytes(range(32)))
    >>> trimmed.tracks, trimmed.places, trimmed.metres > trimmed.metres_cut > 400.0
    (1, 2, True)
    """
    out = Path(out)
    if out.suffix.lower() not in FORMATS:
        raise BadInput(f"{out} must end in {' or '.join(FORMATS)}")
    check_radius(radius)
    further = _places_to_hide(hide)
    inputs = list(map(Path, [source] if isinstance(source, str | os.PathLike) else source))
    check_outputs(out, inputs=inputs)

    counts = Counter[str]()
    recorded = list(
        joined_pieces(traces(source, columns=columns, counts=counts, progress=progress), counts)
    )
    points_read = batch(recorded)
    # If any point has a time, those without are dropped: with them, no pause would be seen.
    clean = sort_by_time(settle_times(drop_impossible(points_read), most_untimed=1.0))
    if len(clean) == 0:
        raise NoTrajectories("there are no points on Earth in these files: name other files")

    tracks, left, places = cut_places(clean, radius, further, _key_of_circles(key))
    if not len(left):
        raise NoTrajectories(
            "nothing is left: all is near where these tracks begin, end, pause or stay again; "
            f"share longer ones, or choose a smaller `radius` than {radius.least:g}-{radius.most:g}"
        )

    metres, seconds = _extent(tracks)
    metres_left, seconds_left = _extent(left)
    if not times:
        left = replace(left, time=np.full(len(left), np.nan))
    _write(out, left, inputs)
    return Trimmed(
        names=len({trace.subject for trace in recorded} - {None}),
        tracks=len(np.unique(tracks.trace)),
        tracks_left=len(np.unique(left.trace)),
        places=places,
        metres=metres,
        metres_cut=metres - metres_left,
        seconds=seconds,
        seconds_cut=seconds - seconds_left,
        points_dropped=len(points_read) - len(tracks),
        unread=+counts,  # without what is zero
    )


def _key_of_circles(key: bytes | str | os.PathLike[str] | None) -> bytes:
    """Return the key that was given, or that of its file; refuse one that is not secret."""
    if not isinstance(key, bytes):
        return holders_key(None if key is None else Path(key))
    check_key(key)
    return key


def _places_to_hide(hide: ArrayLike | None) -> Floats:
    """Return places that a user names, (n, 2); refuse what is none on Earth."""
    places = np.asarray([] if hide is None else hide, dtype=np.float64)
    if not places.size:
        return np.empty((0, 2))
    if places.ndim != 2 or places.shape[1] != 2:
        raise BadInput(f"`hide` must be latitudes and longitudes, (n, 2) (got {places.shape})")
    refuse_off_earth(places, "place {} of `hide`")
    return places


def cut_places(
    points: Points, radius: Radius, hide: Floats, key: bytes
) -> tuple[Points, Points, int]:
    """Split tracks at pauses and at hops that are long or too fast; cut a person's places out.

    Returns the tracks, what is left of them, and the number of circles drawn.
    """
    # Before a hop that is too fast, a receiver may have repeated where it was last, and after it
    # be at home. A single stray fix tells of no end.
    tracks = split_at_gaps(drop_strays(points, _RULES), _RULES, Counter())
    centres = zone_centres(tracks, _RULES, radius, hide, key)
    return tracks, outside(tracks, centres, radius.circle), len(centres)


def outside(points: Points, centres: Floats, radius: float) -> Points:
    """Cut circles around centres, (n, 2), out of tracks; a point alone is no track."""
    circles = around(shapely.points(centres[:, ::-1]), radius)  # shapely takes longitude first
    zone = Region(shapely.union_all(circles), "circles")
    left = keep(points, ~zone.contains(points.lat, points.lon), zone.meets)
    _, points_of_piece = left.pieces
    return left.take(np.repeat(points_of_piece > 1, points_of_piece))


def _extent(points: Points) -> tuple[float, float]:
    """Return metres of way of all pieces, and seconds of those with times."""
    return float(points.hop_metres.sum()), float(np.nansum(points.hop_seconds))


def _write(out: Path, points: Points, inputs: Sequence[Path]) -> None:
    """Write tracks as GPX, or as a table."""
    text = _gpx(points) if out.suffix.lower() == ".gpx" else _table(points).to_csv(index=False)
    # Made to be shared: others than its owner may read it, too.
    with replacing(out, inputs=inputs, public=(out,)) as (draft,):
        draft.write_text(text, encoding="utf-8", newline="\n")


def _table(points: Points) -> pd.DataFrame:
    """Write each point as texts, with the numbers of its track and piece."""
    # More digits would be the device's own, and six are a tenth of a metre.
    lat, lon = ([f"{degrees:.6f}" for degrees in side] for side in (points.lat, points.lon))
    moments = pd.Series(pd.to_datetime(np.floor(points.time), unit="s", utc=True))

    # A number that is missing would show that a track was cut.
    columns = {"id": 1 + renumbered(points.trace), "part": 1 + renumbered(points.piece), "lat": lat}
    times = moments.dt.strftime("%Y-%m-%dT%H:%M:%SZ").fillna("")
    return pd.DataFrame({**columns, "lon": lon, "time": times})


def _gpx(points: Points) -> str:
    """Write GPX 1.1 with nothing in it but places and times, a segment for each piece."""
    table = _table(points)
    times = ("<time>" + table["time"] + "</time>").where(table["time"] != "", "")
    table["text"] = '<trkpt lat="' + table["lat"] + '" lon="' + table["lon"] + '">' + times
    segments = (table["text"] + "</trkpt>").groupby([table["id"], table["part"]]).agg("\n".join)
    tracks = segments.groupby("id").agg("\n</trkseg><trkseg>\n".join)

    return GPX_HEAD + "\n".join([*("<trk><trkseg>\n" + tracks + "\n</trkseg></trk>"), "</gpx>", ""])
