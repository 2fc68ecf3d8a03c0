"""Tiny OpenStreetMap files for tests."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

Tags = Mapping[str, str]


class OsmFile:
    """Objects, numbered from 1 in the order in which they are added."""

    def __init__(self) -> None:
        self._root = ET.Element("osm", version="0.6")
        self._count = 0

    def node(self, lat: float, lon: float, tags: Tags | None = None) -> int:
        place = {"lat": f"{lat:.7f}", "lon": f"{lon:.7f}"}
        return self._add("node", place, tags)

    def nodes(self, places: Iterable[tuple[float, float]]) -> list[int]:
        return [self.node(lat, lon) for lat, lon in places]

    def way(self, nodes: Iterable[int], tags: Tags | None = None) -> int:
        number = self._add("way", {}, tags)
        for node in nodes:
            ET.SubElement(self._root[-1], "nd", ref=str(node))
        return number

    def relation(self, ways: Mapping[int, str], tags: Tags | None = None) -> int:
        """A relation of ways, each with its role."""
        number = self._add("relation", {}, tags)
        for way, role in ways.items():
            ET.SubElement(self._root[-1], "member", type="way", ref=str(way), role=role)
        return number

    def square(self, south: float, west: float, size: float, tags: Tags | None = None) -> int:
        """A closed way around a square, its size in degrees."""
        north, east = south + size, west + size
        corners = [(south, west), (south, east), (north, east), (north, west)]
        nodes = self.nodes(corners)
        return self.way([*nodes, nodes[0]], tags)

    def town(self, name: str, level: int, ways: Sequence[int], **more: str) -> int:
        """The boundary of a town along some ways."""
        tags = {
            "type": "boundary",
            "boundary": "administrative",
            "name": name,
            "admin_level": str(level),
        }
        return self.relation(dict.fromkeys(ways, "outer"), tags | more)

    def write(self, path: Path) -> Path:
        """Write nodes, ways and relations, in this order, as readers expect them."""
        order = ["node", "way", "relation"]
        self._root[:] = sorted(self._root, key=lambda one: order.index(one.tag))
        ET.ElementTree(self._root).write(path, encoding="utf-8", xml_declaration=True)
        return path

    def _add(self, kind: str, attributes: Tags, tags: Tags | None) -> int:
        self._count += 1
        number = {"id": str(self._count), "version": "1"}
        one = ET.SubElement(self._root, kind, {**number, **attributes})
        for key, value in (tags or {}).items():
            ET.SubElement(one, "tag", k=key, v=value)
        return self._count
