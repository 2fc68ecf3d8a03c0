"""The commands for any table of numbers: trajanon microaggregate and bound."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any, Unpack

from trajanon.cli.messages import STOPPED, show_json, tell, with_flags
from trajanon.cli.options import columns_of, names_of, options, text_of_names
from trajanon.common.command_lines import flag_of
from trajanon.common.effort_of_the_search import EffortName
from trajanon.common.errors import BadInput
from trajanon.common.number_text import percent
from trajanon.common.parameters_of_single_methods import (
    MicroaggregateKeywords,
    MicroaggregateSettings,
)
from trajanon.common.search_and_release_options import MissingName, Settings

_MOVED_BY_ROUNDING = 0.001  # standard deviations: a mean that moves by less is kept


@options(MicroaggregateSettings)
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
    from trajanon.cli.progress_bars import bars
    from trajanon.common.atomic_output import replacing
    from trajanon.tables.table_files import check_table_format
    from trajanon.tables.tables import microaggregate_table, write_draft

    if subjects_exact and subject is None:
        raise BadInput("`subjects_exact` is for `subject`, the column with the person of each row")
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
    else:
        show_microaggregated(report)
        tell(f"Wrote {report['n']:,} rows to {out}.")


@contextmanager
def _columns_asked(*parameters: str) -> Iterator[None]:
    """Where the block cannot tell which columns to average, ask for them by options to copy.

    Of these options, only those are proposed that are ``parameters`` of the command.
    """
    from trajanon.tables.table_columns import AveragesUnclear

    try:
        yield
    except AveragesUnclear as error:
        proposed = [
            f"{flag_of(name)} {shlex.quote(text_of_names(names))}"
            for name, names in error.proposal.items()
            if names and name in parameters
        ]
        way_out = f": {' '.join(proposed)}" if error.proposal["columns"] else " in --columns"
        raise BadInput(f"{error.problem}; name the columns to average{way_out}") from error


def _importance_of(text: str) -> dict[str, float]:
    """Read how much columns count by their names, as a user writes it."""
    importance: dict[str, float] = {}
    for column_and_number in names_of(text):
        name, _, number = (word.strip() for word in column_and_number.rpartition("="))
        try:
            weight = float(number)
        except ValueError:
            weight = None
        if not name or name in importance or weight is None:
            raise BadInput(
                f"`importance` {text!r} is not understood at {column_and_number!r}; write "
                "a=2,b=0.5, each once"
            )
        importance[name] = weight
    return importance


@options(Settings)
def bound(
    file: Path,
    *,
    k: int,
    columns: str | None = None,
    strata: str = "",
    survey_weight: str | None = None,
    missing: MissingName = "refuse",
    effort: EffortName = "best",
    seed: int = 0,
    as_json: bool = False,
) -> None:
    """Prove a lower bound on the information loss of any groups of a table.

    Takes minutes for a thousand rows up to k = 5, or k = 10 where they lie along a few axes; weaker
    for larger groups and tables.
    """
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
            effort=effort,
            seed=seed,
            progress=progress,
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


def rounded_text(value: float, rounding: str) -> str:
    """Write a percentage with four decimals, rounded up or down: a bound rounded up is no bound."""
    return f"{Decimal(value).quantize(Decimal('0.0001'), rounding=rounding):f}"


def show_certificate(account: Mapping[str, Any]) -> None:
    """Print the loss reached beside the bound."""
    tell(f"Columns: {', '.join(account['columns'])}")
    _show_stages(account)
    reached = rounded_text(account["information_loss"], ROUND_CEILING)
    tell(f"Information loss reached: {reached} %")
    tell(f"No grouping can lose less than: {rounded_text(account['bound'], ROUND_FLOOR)} %")
    tell(f"The gap between them: {rounded_text(account['gap'], ROUND_CEILING)} % of the loss")


def show_microaggregated(report: Mapping[str, Any]) -> None:
    """Print the loss of a microaggregated table, its groups, what it keeps, and notices."""
    tell(f"Columns microaggregated: {', '.join(report['columns'])}")
    sizes = report["sizes"]
    tell(f"Groups: {report['groups']:,}, of {sizes['min']} to {sizes['max']} rows")
    _show_stages(report)
    _show_written_loss(report)

    risk = report["risk"]
    mean = percent(risk["linkage_mean"])
    highest = percent(risk["linkage_highest"])
    tell(f"Chance of linking a row to a person: {mean} on average, {highest} at most")
    near = percent(risk["near_original"])
    tell(f"Rows in which no value moved by 5 % of a standard deviation: {near}")
    _show_moments(report)
    if report["stopped"]:
        tell(STOPPED)
    for notice in report["notices"]:
        tell(notice)


def _show_written_loss(report: Mapping[str, Any]) -> None:
    """Print the loss of what is written, where that is not what the search reached."""
    # As both are printed: a difference that nobody sees needs no line.
    written = report["information_loss"]
    reached = report["stages"][-1]["information_loss"]
    if f"{written:.4g}" != f"{reached:.4g}":
        rounding = f", {report['rounding_loss']:.2g} of it by rounding"
        tell(f"Information loss as written: {written:.4g} %{rounding}")
    if report["weighted_information_loss"] is not None:
        weight = report["survey_weight"]
        tell(f"Weighted by {weight}: {report['weighted_information_loss']:.4g} %")


def _show_moments(report: Mapping[str, Any]) -> None:
    """Print how much the means of columns move, and their standard deviations shrink."""
    means = report["moments"]["mean"].values()
    deviations = report["moments"]["sd"].values()
    changes = [
        (abs(mean_after - mean_before) / sd_before, 1.0 - sd_after / sd_before)
        for (mean_before, mean_after), (sd_before, sd_after) in zip(means, deviations, strict=True)
        if sd_before > 0.0 and mean_after is not None
    ]
    if not changes:
        return

    most_moved = max(moved for moved, _ in changes)
    most_shrunk = max(0.0, *(shrunk for _, shrunk in changes))
    means_sentence = "Weighted means" if report["survey_weight"] else "Means"
    if most_moved > _MOVED_BY_ROUNDING:
        means_sentence += f" move by {percent(most_moved, 2)} of a standard deviation at most"
    else:
        means_sentence += " are kept"
    tell(f"{means_sentence}; standard deviations shrink by {percent(most_shrunk, 2)} at most.")


def _show_stages(report: Mapping[str, Any]) -> None:
    """Print the loss after each stage of the search, and its time."""
    name_of_loss = "Weighted loss" if report.get("importance") else "Information loss"
    for stage in report["stages"]:
        seconds = f"({stage['seconds']:.2f} s)"
        loss = stage["information_loss"]
        chosen = "".join(f", {name} {value}" for name, value in stage.get("chosen", {}).items())
        if loss is None:
            tell(f"Time for the {stage['name']}{chosen}: {seconds}")
        else:
            tell(f"{name_of_loss} after {stage['name']}{chosen}: {loss:.4g} % {seconds}")
