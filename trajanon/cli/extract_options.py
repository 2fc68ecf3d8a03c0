"""What trajanon extract may be told: its options, in the order of its help."""

from pathlib import Path
from typing import Annotated

import typer

from trajanon.cli.options import PARTS, TRAJECTORIES

Paths = Annotated[
    list[str] | None, typer.Argument(help="Files and folders, like --source.", show_default=False)
]
Bbox = Annotated[
    list[str] | None,
    typer.Option(
        help="madrid, barcelona, tarraco or another large city, or W,S,E,N in "
        "degrees; may be given several times."
    ),
]
Area = Annotated[
    str | None,
    typer.Option(
        help="A boundary of --pbf by its name or relation number, or a file with polygons."
    ),
]
Pbf = Annotated[Path | None, typer.Option(help="An .osm.pbf, for --area and --hide-near.")]
AdminLevel = Annotated[int | None, typer.Option(help="Of --area, where names repeat.")]
Source = Annotated[
    list[str] | None,
    typer.Option(
        help="osm-api (the default), or files and folders: GPX and archives of it, "
        "the planet dump, tables, GeoLife, Porto, cabspotting, T-Drive, GeoPackage "
        "and others."
    ),
]
FileFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="gpx, gpx-archive, geolife, cabspotting, porto, tdrive, geo or table, "
        "for all files; without, each is looked at.",
    ),
]
Columns = Annotated[
    str | None, typer.Option(help="Of a table: id=...,lat=...,lon=...,time=...,subject=...")
]
Untimed = Annotated[
    str, typer.Option(help="accept traces without times in their order, or reject them.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse what cannot be read, instead of leaving it out.")
]
Points = Annotated[int, typer.Option(help="Points of a trajectory.")]
Spacing = Annotated[
    float | None, typer.Option(help="Metres between points along the track; a city has its own.")
]
MaxGap = Annotated[
    str, typer.Option(help="Metres; a longer hop ends a track. Or: none (but for 1,000 km).")
]
MaxPause = Annotated[
    str,
    typer.Option(
        help="Seconds, or a time such as 5min or 2h; a longer pause ends a track. Or: none."
    ),
]
TrimEnds = Annotated[
    float,
    typer.Option(
        help="Metres around the ends of each trace, and where it stops, that are cut out at least."
    ),
]
HideNear = Annotated[
    str | None,
    typer.Option(
        help="Places of --pbf that tracks are cut out around, such as "
        "amenity=hospital,place_of_worship."
    ),
]
Radius = Annotated[float | None, typer.Option(help="Metres, for --hide-near.", show_default="150")]
MinDisplacement = Annotated[
    float, typer.Option(help="Least net way of a trajectory, as a share of its length.")
]
MaxFill = Annotated[
    float, typer.Option(help="Largest share of points farther than one spacing from a real fix.")
]
Windows = Annotated[
    str,
    typer.Option(
        help="all, or first or spread: take --per-trace of each trace, the first "
        "ones or evenly spread; so do the other limits."
    ),
]
PerTrace = Annotated[
    int | None, typer.Option(help="How many --windows first or spread takes.", show_default="1")
]
MaxPerSubject = Annotated[
    int | None, typer.Option(help="Take at most so many trajectories of a subject.")
]
Limit = Annotated[
    int | None, typer.Option(help="Take at most so many in all, evenly over the subjects.")
]
NoTracks = Annotated[
    bool, typer.Option("--no-tracks", help="Leave out the tracks on which windows may slide.")
]
Jobs = Annotated[int, typer.Option(help="Files read at once, by as many processes.")]
ApiUrl = Annotated[str, typer.Option(help="A server with the OSM API.")]
MaxPages = Annotated[int, typer.Option(help="Pages of 5,000 points to ask the server for.")]
Refresh = Annotated[bool, typer.Option("--refresh", help="Download again what is in the cache.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a stopped extraction ended.")]
Partition = Annotated[
    int | None,
    typer.Option(
        help="Write a folder of parts, each of so many trajectories: for more than fit into memory."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="GeoParquet to write, or a folder with --partition.",
        show_default=f"{TRAJECTORIES}, or {PARTS}",
    ),
]
