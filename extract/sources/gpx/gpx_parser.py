"""The XML of a GPX document -> the texts of its track points."""

from typing import NamedTuple

from trajanon.extract.sources.gpx.xml_parser import CHUNK, LONGEST_TEXT, XmlParser, by_name


class End(NamedTuple):
    """Where a segment ends."""

    point: int  # how many of the points lie before it
    track: int  # number of its <trk> in the document, from 1
    url: str | None  # the <url> of its <trk> (GPX 1.0), if there is one


class Points(NamedTuple):
    """What stands in the points of some segments; None where nothing does."""

    lat: list[str | None]  # as written, one a point
    lon: list[str | None]  # as written, one a point
    time: list[str | None]  # as written, one a point
    ends: list[End]  # of the segments, in order


class GpxParser(XmlParser):
    """Reads a GPX document as it comes.

    As little of it as possible is looked at: once a point has told its time, the rest of it is
    passed over.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.is_gpx = False
        self.creator = ""
        self.version = ""
        self.synthetic = False
        self.contents: set[str] = set()
        self._path: list[str] = []  # down to a segment, not into it
        self._depth = 0  # inside of a segment
        self._child = ""  # the tag of the segment's element, most likely a point
        self._point_tag = ""
        self._time_tag = ""
        self._wants_time = False
        self._reading_time = False
        self._passing = 0  # bytes of chunks that ended in what is passed over
        self._text = ""
        self._track = 0
        self._url: str | None = None
        self._lat: list[str | None] = []
        self._lon: list[str | None] = []
        self._time: list[str | None] = []
        self._ends: list[End] = []
        self._parser.CommentHandler = self._comment
        self._outside()

    def feed(self, chunk: bytes) -> None:
        """Read on, at most `CHUNK` bytes; nothing at all is the end of the document."""
        super().feed(chunk)
        if self._parser.StartElementHandler is None:
            self._passing += len(chunk)
        if self._passing > CHUNK:  # nobody counts how deep it goes there
            self._refuse(f"one track point of it is larger than {CHUNK:,} bytes")

    def take(self) -> Points:
        """Take the points that were completed since the last call."""
        whole = len(self._lat)
        whole -= self._depth > 0 and self._child == self._point_tag
        lat, lon, time = self._lat, self._lon, self._time
        taken = Points(lat[:whole], lon[:whole], time[:whole], self._ends)
        del lat[:whole], lon[:whole], time[:whole]
        self._ends = []
        return taken

    def _outside(self) -> None:
        self._parser.StartElementHandler = self._start_outside
        self._parser.EndElementHandler = self._end_outside

    def _inside(self) -> None:
        self._depth = self._passing = 0
        self._parser.StartElementHandler = self._start_inside
        self._parser.EndElementHandler = self._end_inside

    def _pass_over(self) -> None:
        self._parser.StartElementHandler = None
        self._parser.EndElementHandler = self._end_passed

    def _start_outside(self, tag: str, attributes: list[str]) -> None:
        self._path.append(_local(tag))
        self._check_depth(len(self._path))
        match self._path:
            case ["gpx"]:
                said = by_name(attributes)
                self.is_gpx = True
                self.creator = said.get("creator", "")
                self.version = said.get("version", "")
            case [root]:
                self._refuse(f"it begins with <{root}>, not with <gpx>")
            case ["gpx", ("trk" | "rte" | "wpt") as kind]:
                self.contents.add(kind)
                self._track += kind == "trk"
                self._url = None
            case ["gpx", "trk", "trkseg"]:
                self.contents.add("trkseg")
                prefix = tag.removesuffix("trkseg")
                self._point_tag, self._time_tag = prefix + "trkpt", prefix + "time"
                self._inside()
            case ["gpx", "trk", "url"]:
                self._text = ""
                self._parser.CharacterDataHandler = self._gather

    def _end_outside(self, tag: str) -> None:
        self._check_end(tag)
        if self._path == ["gpx", "trk", "url"]:
            self._parser.CharacterDataHandler = None
            self._url = self._text.strip() or None
        self._path.pop()

    def _start_inside(self, tag: str, attributes: list[str]) -> None:
        self._depth += 1
        if self._depth == 1:
            self._child = tag
            self._wants_time = tag == self._point_tag
            if self._wants_time:
                self._place(attributes)
        elif not self._wants_time:
            self._pass_over()
        elif tag == self._time_tag and self._depth == 2:
            self._reading_time = True
            self._text = ""
            self._parser.CharacterDataHandler = self._gather
        else:
            self._check_depth(self._depth)

    def _place(self, attributes: list[str]) -> None:
        if attributes[::2] == ["lat", "lon"]:  # as nearly everybody writes it
            self._lat.append(attributes[1])
            self._lon.append(attributes[3])
        else:
            place = by_name(attributes)
            self._lat.append(place.get("lat"))
            self._lon.append(place.get("lon"))
        self._time.append(None)

    def _end_inside(self, tag: str) -> None:
        if self._depth == 0:
            self._end_segment(tag)
            return
        if self._depth == 2 and self._reading_time:
            self._parser.CharacterDataHandler = None
            self._reading_time = self._wants_time = False
            self._time[-1] = self._text
        self._depth -= 1

    def _end_passed(self, tag: str) -> None:
        if tag == self._child:
            self._inside()

    def _end_segment(self, tag: str) -> None:
        self._check_end(tag)
        self._ends.append(End(len(self._lat), self._track, self._url))
        self._path.pop()
        self._outside()

    def _check_end(self, tag: str) -> None:
        # After passing over a point that holds another one, the ends are one too many.
        if not self._path or self._path[-1] != _local(tag):
            self._refuse("its track points stand in each other")

    def _gather(self, text: str) -> None:
        if len(self._text) < LONGEST_TEXT:
            self._text += text

    def _comment(self, text: str) -> None:
        # The bundled sample has the form of an answer, but nobody to be credited.
        self.synthetic |= text.strip().startswith("synthetic:")


def _local(tag: str) -> str:
    """Give the name of a tag without its prefix."""
    return tag.rpartition(":")[2]
