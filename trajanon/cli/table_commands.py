"""The commands for any table of numbers: trajanon microaggregate and bound."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from trajanon.cli.messages import show_json, tell, with_flags
from trajanon.cli.options import NUMBERS, columns_of, names_of, options
from trajanon.common.errors import BadInput
from trajanon.common.method_parameters import METHOD_PARAMETERS
from trajanon.common.settings import MissingName, Settings


@options(
    Settings,
    *METHOD_PARAMETERS,
    groups={
        f"Only with --{kind.setting} {kind.value}{kind.needed}": " ".join(
            parameter.name for parameter in fields(kind)
        )
        for kind in METHOD_PARAMETERS
    },
    k="Least number of rows, or subjects, in a group.",
    columns=(
        "Columns to microaggregate: a,b,c, all that hold numbers, or eia:papers, the 11 that the "
        "papers used of EIA.",
        NUMBERS,
    ),
    keep=("Columns to keep as they are: a,b,c, or all. They can identify people.", "none"),
    subject="Column with the subject of each row; it is dropped.",
    strata="Form groups within each value of this column.",
    weights=("How much columns count in the search: a=2,b=0.5. 0: not at all.", "1 for each"),
    out="Ends in .csv or .parquet.",
)
def microaggregate(
    file: Path,
    *,
    k: int,
    columns: str | None = None,
    keep: str = "",
    subject: str | None = None,
    subjects_exact: bool = False,
    strata: str | None = None,
    weights: str | None = None,
    missing: MissingName = "refuse",
    out: Path = Path("microaggregated.csv"),
    as_json: bool = False,
    **search: Any,
) -> None:
    """Replace the rows of a table of numbers by the means of groups of at least k.

    Rows keep their order, and k counts for the microaggregated columns alone.
    """
    from trajanon.cli.progress_bars import bars
    from trajanon.cli.report_tables import show_microaggregated
    from trajanon.common.atomic_output import replacing
    from trajanon.tables.table_columns import check_table_format
    from trajanon.tables.tables import microaggregate_table, write_draft

    check_table_format(out)
    with bars() as progress, replacing(out, inputs=[file], public=[out]) as (draft,):
        result = microaggregate_table(
            file,
            k,
            columns=None if columns is None else columns_of(columns),
            keep=names_of(keep),
            subject=subject,
            subjects_exact=subjects_exact,
            strata=strata,
            weights=None if weights is None else _weights_of(weights),
            missing=missing,
            progress=progress,
            **search,
        )
        write_draft(result, draft)

    report = result.report
    if as_json:
        notices = list(map(with_flags, report["notices"]))
        show_json({**report, "notices": notices, "out": str(out)})
        return

    show_microaggregated(report)
    for notice in report["notices"]:
        tell(notice)
    tell(f"Wrote {len(result.table):,} rows to {out}.")


def _weights_of(text: str) -> dict[str, float]:
    """Read weights by the names of columns, as a user gives them."""
    weights: dict[str, float] = {}
    for part in names_of(text):
        name, _, number = (word.strip() for word in part.rpartition("="))
        try:
            weight = float(number)
        except ValueError:
            weight = None
        if not name or name in weights or weight is None:
            raise BadInput(
                f"`weights` {text!r} is not understood at {part!r}; write a=2,b=0.5, each once"
            )
        weights[name] = weight
    return weights


@options(
    k="Least number of rows in a group.",
    columns=("Columns to measure the loss of: a,b,c, or all that hold numbers.", NUMBERS),
    effort="Of the search for groups and of the bound: fast (seconds; distances alone, weak), "
    "balanced (a linear programme), or best (lifted by cuts; minutes).",
)
def bound(
    file: Path,
    *,
    k: int,
    columns: str | None = None,
    missing: MissingName = "refuse",
    effort: str = "best",
    seed: int = 0,
    as_json: bool = False,
) -> None:
    """Prove how far the groups found can be from the best: a lower bound.

    Minutes for a thousand rows up to k = 5, or k = 10 where they lie along a few axes; weaker for
    larger groups and tables.
    """
    from trajanon.cli.progress_bars import bars
    from trajanon.cli.report_tables import show_certificate
    from trajanon.tables.table_bound import bound_table

    names = None if columns is None else columns_of(columns)
    with bars() as progress:
        certificate = bound_table(
            file, k, columns=names, missing=missing, progress=progress, effort=effort, seed=seed
        )
    if as_json:
        show_json(certificate)
        return

    show_certificate(certificate)
    if certificate["stopped"]:
        tell("Stopped by Ctrl-C: a longer search might bring the two closer.")
    tell(
        "The bound is certified: it is that of a linear programme over all groups."
        if certificate["certified"]
        else "The bound is true but not certified: no linear programme was solved to its proof."
    )
