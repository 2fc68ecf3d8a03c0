"""What readers find in files that the user should know: the warnings of `reader_warnings.csv`."""

from trajanon.common.errors import GuessedWarning, LeftOutWarning, TrajanonWarning
from trajanon.common.inputs import rows_beside

_SENTENCES = {row["kind"]: row for row in rows_beside(__file__, "reader_warnings.csv")}

_FORMS = {"left out": LeftOutWarning, "guessed": GuessedWarning}


def warning_of(kind: str, **values: object) -> TrajanonWarning:
    """Return the warning of a kind; what it is about is warned of once."""
    row = _SENTENCES[kind]
    sentence, about = (row[part].format(**values) for part in ("sentence", "about"))
    return _FORMS[row["form"]](sentence, kind, about)
