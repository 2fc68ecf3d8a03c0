"""trajanon trim."""

from pathlib import Path

from trajanon.cli.messages import show_json, tell
from trajanon.cli.options import options
from trajanon.common.number_text import metres, number_of, span

_TRIMMED = Path("trimmed.gpx")


@options(trimmed=f"{_TRIMMED}")
def trim(
    paths: list[str],
    *,
    radius: str = "200-500",
    hide: list[str] | None = None,
    times: bool = True,
    columns_text: str | None = None,
    key: Path | None = None,
    out: Path = _TRIMMED,
    as_json: bool = False,
) -> None:
    """Cut out of one person's tracks where they begin and end, such as at home.

    For somebody who wants to share their own tracks. Places where they pause for five minutes, or
    stay again, are cut out, too. One where they stay once, in the middle of a track, is left in:
    name it with --hide. Without times, pauses and stays are not known.
    """
    from dataclasses import asdict

    from trajanon.cli.progress_bars import bars
    from trajanon.extract import trim as trim_tracks
    from trajanon.extract.earth.named_or_tagged_places import middles_of_places
    from trajanon.extract.hidden_homes_and_ends import radius_of
    from trajanon.extract.sources.column_role_names import parse_columns

    distances = radius_of(radius)
    places = middles_of_places(hide or [], distances.width)
    with bars() as progress:
        trimmed = trim_tracks(
            paths,
            out,
            key,
            radius=distances,
            hide=places,
            times=times,
            columns=parse_columns(columns_text) if columns_text else None,
            progress=progress,
        )

    if as_json:
        show_json(asdict(trimmed))
        return

    tell(
        "This is not k-anonymity: it hides where tracks begin, end, pause and stay again, and "
        "nothing else. A place where you stay once is left in: name it with --hide. Anyone who "
        "meets you on the way may still recognise you."
    )
    if trimmed.names > 1:
        tell(f"These tracks have {trimmed.names} names of people, and are treated as one person's.")

    amount = f"{metres(trimmed.metres_cut)} of {metres(trimmed.metres)}"
    if trimmed.seconds:
        amount += f", and {span(trimmed.seconds_cut)} of {span(trimmed.seconds)}"
    tell(f"Drew {number_of(trimmed.places, 'circle')} around places to hide. Cut {amount}.")

    if trimmed.points_dropped:
        points = number_of(trimmed.points_dropped, "point")
        tell(f"Left out {points} astray, or without a place or a time.")
    for reason, number in trimmed.unread.items():
        tell(f"Left out, {reason}: {number:,}.")
    if nothing_left := trimmed.tracks - trimmed.tracks_left:
        tell(f"Nothing is left of {number_of(nothing_left, 'track')}.")
    tell(
        f"Wrote {number_of(trimmed.tracks_left, 'track')} to {out}. Look at it before you share it."
    )
