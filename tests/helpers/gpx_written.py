"""GPX documents for tests, as text and as streams."""

import io
from collections.abc import Sequence
from pathlib import Path

POINT = '<trkpt lat="41.5" lon="2.25"><time>2020-01-01T00:00:01Z</time></trkpt>'
SEGMENT = f"<trkseg>{POINT}{POINT}</trkseg>"
TWO_POINTS = b"<gpx><trk>" + SEGMENT.encode() + b"</trk></gpx>"


def document(body: str, attributes: str = 'version="1.1" creator="test"') -> bytes:
    return f"<gpx {attributes}>{body}</gpx>".encode()


class Slowly:
    """Gives a stream in small pieces."""

    def __init__(self, stream: io.BytesIO, size: int) -> None:
        self._stream = stream
        self._size = size

    def read(self, size: int, /) -> bytes:
        return self._stream.read(min(size, self._size))


class Pieces:
    """A stream that gives its bytes in pieces of given sizes, over and over."""

    def __init__(self, content: bytes, sizes: Sequence[int]) -> None:
        self._stream = io.BytesIO(content)
        self._sizes = list(sizes)

    def read(self, size: int, /) -> bytes:
        self._sizes = self._sizes[1:] + self._sizes[:1]
        return self._stream.read(min(size, self._sizes[-1]))


def timed(*times: str) -> bytes:
    points = "".join(f'<trkpt lat="1" lon="2"><time>{time}</time></trkpt>' for time in times)
    return document(f"<trk><trkseg>{points}</trkseg></trk>")


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
