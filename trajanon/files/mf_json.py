"""A release as OGC Moving Features JSON (OGC 19-045r3), of moving points."""

from pathlib import Path

import numpy as np

from trajanon.arrays import Floats
from trajanon.files.release_lines import Lines, ReleaseFormat, clock_of, counted_in, once_each
from trajanon.files.text_formats import collection_head, collection_of, write_rows
from trajanon.times import instants, seconds_in
from trajanon.trajectories import Trajectories


def _write(path: Path, release: Trajectories) -> None:
    """Write a collection of moving points; the words on them are members of it."""
    release, counts = once_each(release)
    clock = clock_of(release)

    def told(times: Floats) -> list[str]:
        texts = np.datetime_as_string(instants(times, clock), unit="ms")
        return [f'"{text}Z"' for text in texts]

    def feature(number: int, line: str, times: str) -> str:
        comma = "," if number < len(release) else ""
        count = "" if counts is None else f', "{counted_in(release)}": {counts[number - 1]}'
        return (
            f'{{"type": "Feature", "properties": {{"id": {number}{count}}}, "temporalGeometry": '
            f'{{"type": "MovingPoint", "datetimes": [{times}], "coordinates": [{line}]}}}}{comma}\n'
        )

    head = collection_head(release)
    write_rows(path, release, head, "[{1}, {0}]", ", ", feature, "]}\n", told)


def _read(path: Path) -> Lines:
    return collection_of(
        path,
        "Moving Features JSON",
        "moving points",
        "temporalGeometry",
        lambda feature: feature["temporalGeometry"].get("datetimes"),
        seconds_in,
    )


MF_JSON = ReleaseFormat(_write, _read, only_timed=True)
