"""trajanon bound."""

from pathlib import Path
from typing import Any

from trajanon.cli.options import NUMBERS, names_of, options
from trajanon.cli.wording import show_json, tell
from trajanon.settings import MissingName


@options(
    k="Least number of rows in a group.",
    columns=("Columns whose loss counts: a,b,c, or all that hold numbers.", NUMBERS),
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
    """Say how far the groups found can be from the best: a proven lower bound.

    Minutes for a thousand rows up to k = 5, or k = 10 where they lie along a few axes; weaker for
    larger groups and tables.
    """
    from trajanon.certificate import certify_table
    from trajanon.cli.results import show_certificate
    from trajanon.cli.screen import bars

    names = None if columns is None else names_of(columns)
    how: dict[str, Any] = {"missing": missing, "effort": effort, "seed": seed}
    with bars() as progress:
        certificate = certify_table(file, k, columns=names, progress=progress, **how)
    if as_json:
        show_json(certificate)
        return
    show_certificate(certificate)
    if certificate["stopped"]:
        tell("Stopped by Ctrl-C: a longer search might bring the two closer.")
    tell(
        "The bound is certified: it is that of a linear programme over all groups, and "
        "was proven again. There may be no groups that reach it."
        if certificate["certified"]
        else "The bound is true but not certified: effort was fast, limits were met, or Ctrl-C "
        "came, before it was as high as a linear programme over all groups."
    )
