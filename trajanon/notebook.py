"""What results show of themselves: a line of text, and in a notebook a table and a picture."""

from collections.abc import Sequence
from html import escape

import numpy as np

from trajanon.arrays import Floats

_LINES, _POINTS = 200, 100  # drawn at most, evenly among all
_SIDE = 320  # pixels
_EDGE = 4


def shown(name: str, said: Sequence[str]) -> str:
    """Write the `repr` of a result.

    >>> shown("Release", ["8 rows", "4 lines"])
    '<Release: 8 rows; 4 lines>'
    """
    return f"<{name}: {'; '.join(one.rstrip('.') for one in said)}>"


def page(rows: Sequence[tuple[str, str]], picture: str = "", note: str = "") -> str:
    """Lay out a table of texts, with a note above and a picture below.

    >>> page([("k", "4 <subjects>")])
    '<div><table><tr><th>k</th><td>4 &lt;subjects&gt;</td></tr></table></div>'
    """
    above = f"<p>{escape(note)}</p>" if note else ""
    cells = (f"<tr><th>{escape(one)}</th><td>{escape(other)}</td></tr>" for one, other in rows)
    return f"<div>{above}<table>{''.join(cells)}</table>{picture}</div>"


def drawn(points: Floats) -> str:
    """Draw lines of latitude and longitude, (n, m, 2), as SVG, north above.

    >>> svg = drawn(np.array([[[41.0, 2.0], [42.0, 2.0]]]))
    >>> svg.partition("<polyline")[2]
    ' points="0,320 0,0"/></svg>'
    """
    if not points.size:
        return ""
    line, point = (
        np.linspace(0, size - 1, min(size, most)).astype(np.int64)
        for size, most in zip(points.shape, (_LINES, _POINTS), strict=False)
    )
    lat, lon = np.moveaxis(points[np.ix_(line, point)], -1, 0)
    east = (lon - lon[0, 0] + 180.0) % 360.0 - 180.0  # also where 180 degrees are crossed
    places = np.stack([east * np.cos(np.radians(lat.mean())), -lat], axis=-1)
    places -= places.min(axis=(0, 1))
    places *= _SIDE / max(float(places.max()), 1e-9)
    width, height = (np.rint(places.max(axis=(0, 1))) + 2 * _EDGE).astype(np.int64).tolist()
    texts = (" ".join(f"{x:g},{y:g}" for x, y in one) for one in np.round(places, 1).tolist())
    drawn = "".join(f'<polyline points="{text}"/>' for text in texts)
    return (
        f'<svg viewBox="{-_EDGE} {-_EDGE} {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{len(line)} lines" fill="none" stroke="currentColor" '
        f'stroke-opacity="0.4">{drawn}</svg>'
    )
