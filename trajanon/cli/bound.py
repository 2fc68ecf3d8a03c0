"""trajanon bound."""

from pathlib import Path
from typing import Annotated, Any

import typer

from trajanon.cli.options import Json, Missing, names_of, with_options
from trajanon.cli.wording import announce_compilation, tell
from trajanon.settings import Settings


@with_options(Settings, "effort", "seed", effort="best")
def bound(
    file: Annotated[
        Path, typer.Argument(help="CSV or Parquet table with a header and one record in each row.")
    ],
    *,
    k: Annotated[int, typer.Option("-k", help="Least number of rows in a group.")],
    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns whose loss counts: a,b,c, or all that hold numbers.",
            show_default="all that hold numbers and look like no id or survey weight",
        ),
    ] = None,
    missing: Missing = "refuse",
    as_json: Json = False,
    **options: Any,
) -> None:
    """Say how far the groups found can be from the best: a proven lower bound.

    Minutes for a thousand rows up to k = 5, or k = 10 where they lie along a few axes; weaker for
    larger groups and tables.
    """
    from trajanon.certificate import certify_table
    from trajanon.cli.results import show_certificate
    from trajanon.cli.screen import bars, show_json

    announce_compilation()
    with bars() as progress:
        certificate = certify_table(
            file,
            k,
            columns=None if columns is None else names_of(columns),
            missing=missing,
            progress=progress,
            **options,
        )
    if as_json:
        show_json(certificate.account)
        return
    show_certificate(certificate.account)
    if certificate.partition.stopped:
        tell("Stopped by Ctrl-C: a longer search might bring the two closer.")
    tell(
        "The bound is certified: it is that of a linear programme over all groups, and "
        "was proven again. There may be no groups that reach it."
        if certificate.bound.certified
        else "The bound is true but not certified: limits were met, or Ctrl-C came, "
        "before it was as high as a linear programme over all groups."
    )
