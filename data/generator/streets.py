"""Write the streets of the made-up city as an OpenStreetMap file.

Run ``python data/generator/streets.py FILE.osm.pbf``: what the drives of the sample follow.
"""

import sys
from pathlib import Path

import osmium
from city import Dice, build_city
from make_sample import METRES_EAST, METRES_NORTH, MIDDLE_LAT, MIDDLE_LON, SEED
from osmium.osm import mutable

FAST = 9.0  # metres a second; faster streets are avenues


def write_streets(path: Path) -> None:
    """Write each street once: its points as nodes, and a way."""
    city, nodes = build_city(Dice(SEED)), dict[tuple[float, float], int]()
    with osmium.SimpleWriter(str(path)) as file:
        ways = []
        for start, streets in enumerate(city.streets):
            for street in streets:
                if street.end < start:
                    continue
                for place in street.shape:
                    if place not in nodes:
                        nodes[place] = len(nodes) + 1
                        lat = MIDDLE_LAT + place[1] / METRES_NORTH
                        lon = MIDDLE_LON + place[0] / METRES_EAST
                        file.add_node(mutable.Node(id=nodes[place], location=(lon, lat)))
                kind = "residential" if street.speed < FAST else "primary"
                ways.append(([nodes[place] for place in street.shape], {"highway": kind}))
        for number, (way, tags) in enumerate(ways, start=1):
            file.add_way(mutable.Way(id=number, nodes=way, tags=tags))


if __name__ == "__main__":
    write_streets(Path(sys.argv[1]))
