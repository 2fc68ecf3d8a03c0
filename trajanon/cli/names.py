"""Column names between commas."""

import csv

from trajanon.errors import BadInput


def names_of(text: str) -> list[str]:
    """Read column names between commas; one that holds a comma stands in quotes."""
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        msg = f"cannot read {text!r} as column names between commas: {error}"
        raise BadInput(msg) from error
