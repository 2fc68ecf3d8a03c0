"""Options that several commands share, and the names files have by default."""

import csv
from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from trajanon.errors import BadInput

TRAJECTORIES = Path("trajectories.parquet")
ANONYMIZED = Path("anonymized.parquet")
PARTS, RELEASE = Path("trajectories"), Path("anonymized")
"""Folders of parts."""
MAP = Path("map.html")
MICROAGGREGATED = Path("microaggregated.csv")
BENCHMARK = Path("benchmark.csv")

Command = TypeVar("Command", bound=Callable[..., None])

SubjectsExact = Annotated[
    bool,
    typer.Option(
        "--subjects-exact",
        help="Count names that differ only in upper and lower case as different subjects.",
    ),
]
Missing = Annotated[
    str, typer.Option(help="If values are missing: refuse the table, or drop these rows.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def with_options(kind: type, *names: str, **defaults: Any) -> Callable[[Command], Command]:
    """Let a command take in its ``**options`` those of a class of settings: all, or those named."""

    def extend(command: Command) -> Command:
        own = signature(command)
        taken = list(own.parameters.values())
        more = [
            Parameter(
                option.name,
                Parameter.KEYWORD_ONLY,
                default=defaults.get(option.name, option.default),
                annotation=Annotated[
                    option.type,
                    typer.Option(
                        help=option.metadata["help"], show_default=option.metadata["shown"] or True
                    ),
                ],
            )
            for option in fields(kind)
            if option.name not in own.parameters and (not names or option.name in names)
        ]
        place = next(n for n, given in enumerate(taken) if given.name in ("out", "as_json"))
        taken = [given for given in taken if given.kind is not Parameter.VAR_KEYWORD]
        command.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=[*taken[:place], *more, *taken[place:]]
        )
        return command

    return extend


def names_of(text: str) -> list[str]:
    """Read column names between commas; one that holds a comma stands in quotes."""
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        msg = f"cannot read {text!r} as column names between commas: {error}"
        raise BadInput(msg) from error


def check_page(out: Path, what: str) -> None:
    """Refuse a name that is not that of a page."""
    if out.suffix.lower() not in (".html", ".htm"):
        msg = f"{what} is a page: {out} must end in .html"
        raise BadInput(msg)
