"""What an entry of the certificate or of the record of processing rests on."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

Json = str | float | None | Sequence["Json"] | Mapping[str, "Json"]
"""What JSON can hold."""


class Basis(StrEnum):
    """What an entry rests on."""

    MEASUREMENT = "measurement"
    PROOF = "statement with a proof"
    REPORT = "report of the program"
    WORD = "the publisher's word"
    BLANK = "blank"
    NOT_ASSESSED = "not assessed"
