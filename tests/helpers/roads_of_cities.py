"""A file of OpenStreetMap with roads of two cities."""

from pathlib import Path


def roads_of_cities(folder: Path) -> Path:
    """Write a trunk road and a street in Madrid, a motorway in Barcelona, and a way on foot."""
    lines = [
        *("n1 x-3.70 y40.40", "n2 x-3.69 y40.45", "n3 x-3.68 y40.41"),
        *("n4 x2.10 y41.40", "n5 x2.20 y41.41"),
        "w1 Thighway=trunk Nn1,n2",
        "w2 Thighway=residential Nn2,n3",
        "w3 Thighway=motorway Nn4,n5",
        "w4 Thighway=footway Nn1,n3",
    ]
    file = folder / "roads.opl"
    file.write_text("\n".join(lines), "utf-8")
    return file
