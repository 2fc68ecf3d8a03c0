"""Moving points, each with the times of its places -> traces."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import shapely

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.sources.geo.features import traces_of_features
from trajanon.extract.sources.geo.layer import Features, Layer
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

WGS_84 = "OGC:CRS84"

_POINTS = 65_536  # of the features that are read at a time


class Moving(NamedTuple):
    """A point that moves."""

    parts: Sequence[Floats]  # x and y of its places, shape (at least 2, 2), part by part
    columns: Mapping[str, Any]  # what is known of it; the times of all parts are a list
    system: str = WGS_84  # the reference system of x and y


def traces_of_moving(
    found: Iterable[Moving | str], what: str, label: str, how: Reading
) -> Iterator[Trace]:
    """Read the traces of moving points, as lines with lists of times are read.

    Instead of a point that is left out there is a word, as what it is counted.
    """
    batches = _batches(_taken(found, how))
    first = next(batches, None)
    if first is None:
        return
    system = first[0].system

    def features(columns: Sequence[str]) -> Iterator[Features]:
        for batch in chain([first], batches):
            other = next((one.system for one in batch if one.system != system), None)
            if other is not None:
                raise BadInput(
                    f"{what} names several reference systems, such as {system} and {other}; "
                    "transform it to EPSG:4326 first"
                )
            yield _features(batch, columns)

    layer = Layer(
        what=what,
        label=label,
        names=list(dict.fromkeys(name for one in first for name in one.columns)),
        system=system,
        features=features,
    )
    yield from traces_of_features(layer, how)


def _taken(found: Iterable[Moving | str], how: Reading) -> Iterator[Moving]:
    for one in found:
        if isinstance(one, Moving):
            yield one
        else:
            how.counts[one] += 1


def _batches(moving: Iterable[Moving]) -> Iterator[list[Moving]]:
    batch: list[Moving] = []
    points = 0
    for one in moving:
        batch.append(one)
        points += sum(map(len, one.parts))
        if points >= _POINTS:
            yield batch
            batch, points = [], 0
    if batch:
        yield batch


def _features(batch: Sequence[Moving], columns: Sequence[str]) -> Features:
    parts = [part for one in batch for part in one.parts]
    of_part = np.repeat(np.arange(len(batch)), [len(one.parts) for one in batch])
    of_point = np.repeat(np.arange(len(parts)), list(map(len, parts)))
    lines = shapely.linestrings(np.concatenate(parts), indices=of_point)
    values = {name: [_known(one.columns.get(name)) for one in batch] for name in columns}
    return shapely.multilinestrings(lines, indices=of_part), pd.DataFrame(values, dtype=object)


def places(coordinates: Any) -> Floats | None:
    """Read x and y of a list of positions, which may have heights; None if it is no such list."""
    try:
        xy = np.array([position[:2] for position in coordinates], dtype=np.float64)
    except (TypeError, ValueError, LookupError, OverflowError):
        return None
    return xy if xy.ndim == 2 and xy.shape[1] == 2 else None


def _known(value: Any) -> Any:
    """Give a value of JSON as one that a column of texts or numbers can hold."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()  # JSON may name half a character
    if isinstance(value, list):
        return [_known(one) for one in value]
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    return value
