"""The commands for any table of numbers: trajanon microaggregate and bound."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Unpack

from trajanon.cli.messages import show_json, tell, with_flags
from trajanon.cli.options import NUMBERS, columns_of, names_of, options, text_of_names
from trajanon.common.command_lines import flag_of
from trajanon.common.errors import BadInput
from trajanon.common.method_parameters import METHOD_PARAMETERS, MicroaggregateKeywords
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
        "Columns to microaggregate: a,b,c; all (those that hold numbers); or eia:papers (the 11 "
        "columns of EIA in the papers).",
        NUMBERS,
    ),
    keep=("Columns to copy unchanged: a,b,c, or all. They can identify people.", "none"),
    subject="Column that names the person or household of each row; it is left out.",
    per_subject="Average the rows of each person first, and write the same mean to all of them.",
    group_column="Add a column of this name with a new number for each person, so that check "
    "--subject can count them.",
    strata="Form groups only of rows with equal values in these columns: a,b.",
    survey_weight="Column with survey weights: means are weighted, the search for groups is not.",
    importance=(
        "Weights of columns in the search, such as a=2,b=0.5; 0 ignores a column.",
        "1 for each",
    ),
    out="File to write: .csv or .parquet.",
)
def microaggregate(
    file: Path,
    *,
    k: int,
    columns: str | None = None,
    keep: str = "",
    subject: str | None = None,
    subjects_exact: bool = False,
    per_subject: bool = False,
    group_column: str | None = None,
    strata: str = "",
    survey_weight: str | None = None,
    importance: str | None = None,
    missing: MissingName = "refuse",
    out: Path = Path("microaggregated.csv"),
    as_json: bool = False,
    **search: Unpack[MicroaggregateKeywords],
) -> None:
    """Average the rows of a table in groups of at least k.

    Rows keep their order. Only the microaggregated columns are k-anonymous.
    """
    from trajanon.cli.microaggregated_lines import show_microaggregated
    from trajanon.cli.progress_bars import bars
    from trajanon.common.atomic_output import replacing
    from trajanon.tables.table_files import check_table_format
    from trajanon.tables.tables import microaggregate_table, write_draft

    check_table_format(out)
    with bars() as progress, replacing(out, inputs=[file], public=[out]) as (draft,):
        with _columns_asked("columns", "keep", "survey_weight"):
            result = microaggregate_table(
                file,
                k,
                columns=columns_of(columns),
                keep=names_of(keep),
                subject=subject,
                subjects_exact=subjects_exact,
                per_subject=per_subject,
                group_column=group_column,
                strata=names_of(strata),
                survey_weight=survey_weight,
                importance=None if importance is None else _importance_of(importance),
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
    tell(f"Wrote {report['n']:,} rows to {out}.")


@contextmanager
def _columns_asked(*parameters: str) -> Iterator[None]:
    """Ask for columns by the options to copy, of those that the command has."""
    from trajanon.tables.averaged_columns import AveragesUnclear

    try:
        yield
    except AveragesUnclear as error:
        measures = error.proposal["columns"]
        options = [
            f"{flag_of(name)} {shlex.quote(text_of_names(names))}"
            for name, names in error.proposal.items()
            if names and name in parameters
        ]
        such = f": {' '.join(options)}" if measures else " in --columns"
        raise BadInput(f"{error.problem}; name the columns to average{such}") from error


def _importance_of(text: str) -> dict[str, float]:
    """Read how much columns count by their names, as a user writes it."""
    importance: dict[str, float] = {}
    for part in names_of(text):
        name, _, number = (word.strip() for word in part.rpartition("="))
        try:
            counts = float(number)
        except ValueError:
            counts = None
        if not name or name in importance or counts is None:
            raise BadInput(
                f"`importance` {text!r} is not understood at {part!r}; write a=2,b=0.5, each once"
            )
        importance[name] = counts
    return importance


@options(
    k="Least number of rows in a group.",
    columns=("Columns to measure the loss of: a,b,c, or all that hold numbers.", NUMBERS),
    strata="Only groups of rows with equal values in these columns: a,b.",
    survey_weight="Column with survey weights, by which the loss is weighted.",
    effort="Of the search and of the bound: fast (seconds; a weak bound from distances), balanced "
    "(a linear programme), or best (minutes; strengthened by cuts).",
)
def bound(
    file: Path,
    *,
    k: int,
    columns: str | None = None,
    strata: str = "",
    survey_weight: str | None = None,
    missing: MissingName = "refuse",
    effort: str = "best",
    seed: int = 0,
    as_json: bool = False,
) -> None:
    """Prove a lower bound on the information loss of any groups of a table.

    Takes minutes for a thousand rows up to k = 5, or k = 10 where they lie along a few axes; weaker
    for larger groups and tables.
    """
    from trajanon.cli.microaggregated_lines import show_certificate
    from trajanon.cli.progress_bars import bars
    from trajanon.tables.table_bound import bound_table

    with bars() as progress, _columns_asked("columns", "survey_weight"):
        certificate = bound_table(
            file,
            k,
            columns=columns_of(columns),
            strata=names_of(strata),
            survey_weight=survey_weight,
            missing=missing,
            progress=progress,
            effort=effort,
            seed=seed,
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
        else "The bound is valid but not certified: no linear programme was solved to optimality."
    )
