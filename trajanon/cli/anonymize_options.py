"""What trajanon anonymize alone may be told; `options` has what others may be, too."""

from typing import Annotated

import typer

from trajanon.cli.options import ANONYMIZED, RELEASE

Trajectories = Annotated[
    str, typer.Argument(help="What extract wrote: a file, or a folder of parts.")
]
K = Annotated[int, typer.Option("-k", help="Least number of different subjects in a group.")]
Count = Annotated[str, typer.Option(help="What k counts: subjects, or records whoever made them.")]
Align = Annotated[
    bool,
    typer.Option(
        "--align/--no-align", help="Let trajectories slide on their tracks towards their groups."
    ),
]
Suppress = Annotated[
    str, typer.Option(help="Leave out those that cost most: at most this share of all, such as 1%.")
]
MinRadius = Annotated[
    float,
    typer.Option(
        help="Metres; leave out groups whose members all stay within so far of the released line."
    ),
]
Digits = Annotated[
    int,
    typer.Option(
        min=4,
        max=7,
        help="Decimals of released degrees; 4 are 11 m. Each one more makes it easier "
        "to tell who is in a group, for somebody who holds all other tracks.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="Of parts: what may be taken, such as 4GB; by each worker of a cluster.",
        show_default="4GB",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Of parts: a Dask scheduler that shares the work out, such as "
        "tcp://10.0.0.1:8786, or local:4 for so many processes."
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        help="Ends in .parquet, .gpkg, .geojson, .csv or .gpx; a folder, if parts are read.",
        show_default=f"{ANONYMIZED}, or {RELEASE}",
    ),
]
