"""What can go wrong, as one small tree.

TrajanonError
├── BadInput (ValueError)            what was asked for, or given, cannot be used
│   ├── TooFewRecords                fewer records than the group size k
│   ├── TooFewSubjects               fewer different subjects than the group size k
│   └── NoTrajectories               nothing in the source became a trajectory
├── FileProblem (OSError)            a file cannot be read, or not be written
└── ServerProblem (ConnectionError)  the OSM server cannot be reached, or refused

Each message is one sentence that names the thing, the value and the way out; the command line
prints it as it is and exits with 2.
"""

_MOST = 1_000
"""Characters of a message."""


def printable(text: str, most: int = _MOST) -> str:
    r"""Escape what a terminal would obey or hide, and cut out the middle of long text.

    >>> print(printable("a\x1b[2Jb"), printable("from the first to the last", 9))
    a\x1b[2Jb from…last
    """
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


class TrajanonError(Exception):
    """Anything that the user, not the program, has to mend."""

    def __str__(self) -> str:
        """Give the message, whatever the names in it hold."""
        return printable(super().__str__())


class BadInput(TrajanonError, ValueError):
    """An argument or the data given cannot be used."""


class TooFewRecords(BadInput):
    """Fewer records than the group size k."""


class TooFewSubjects(BadInput):
    """Fewer different subjects than the group size k."""


class NoTrajectories(BadInput):
    """Nothing in the source became a trajectory."""


class FileProblem(TrajanonError, OSError):
    """A file cannot be read, or cannot be written."""


class ServerProblem(TrajanonError, ConnectionError):
    """The OSM server cannot be reached, or refused the request."""
