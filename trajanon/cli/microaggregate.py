"""trajanon microaggregate."""

from pathlib import Path
from typing import Annotated, Any

import typer

from trajanon.cli.options import (
    MICROAGGREGATED,
    Json,
    Missing,
    SubjectsExact,
    names_of,
    with_options,
)
from trajanon.cli.wording import announce_compilation, tell, with_flags
from trajanon.settings import Settings


@with_options(Settings)
def microaggregate(
    file: Annotated[
        Path, typer.Argument(help="CSV or Parquet table with a header and one record in each row.")
    ],
    *,
    k: Annotated[int, typer.Option("-k", help="Least number of rows, or subjects, in a group.")],
    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns to microaggregate: a,b,c, or all that hold numbers.",
            show_default="all that hold numbers and look like no id or survey weight",
        ),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            help="Columns to keep as they are: a,b,c, or all. They can identify people.",
            show_default="none",
        ),
    ] = "",
    subject: Annotated[
        str | None, typer.Option(help="Column with the subject of each row; it is dropped.")
    ] = None,
    subjects_exact: SubjectsExact = False,
    strata: Annotated[
        str | None, typer.Option(help="Form groups within each value of this column.")
    ] = None,
    missing: Missing = "refuse",
    out: Annotated[Path, typer.Option(help="Ends in .csv or .parquet.")] = MICROAGGREGATED,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Replace the rows of a table of numbers by the means of groups of at least k.

    Rows keep their order, and k counts for the microaggregated columns alone.
    """
    from trajanon.cli.results import STOPPED, show_microaggregated
    from trajanon.cli.screen import bars, show_json
    from trajanon.files.numeric_table import check_table_format
    from trajanon.outputs import replacing
    from trajanon.tables import microaggregate_table

    check_table_format(out)
    announce_compilation()
    with replacing(out, inputs=[file], public=[out]) as (draft,), bars() as progress:
        result = microaggregate_table(
            file,
            k,
            columns=None if columns is None else names_of(columns),
            keep=names_of(keep),
            subject=subject,
            subjects_exact=subjects_exact,
            strata=strata,
            missing=missing,
            progress=progress,
            **options,
        )
        result.write_draft(draft)
    if as_json:
        notices = list(map(with_flags, result.report["notices"]))
        show_json({**result.report, "notices": notices, "out": str(out)})
        return
    show_microaggregated(result.report)
    if result.report["stopped"]:
        tell(STOPPED)
    for notice in result.report["notices"]:
        tell(notice)
    tell(f"Wrote {len(result.table):,} rows to {out}.")
