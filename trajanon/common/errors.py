"""Errors, each also the error of Python that it is nearest to; and warnings: two small trees."""

import sys
import warnings
from collections.abc import Sequence


def printable(text: str, most: int = 1_000) -> str:
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
    """Anything that the user, not the program, has to mend.

    Examples
    --------
    >>> import trajanon
    >>> try:
    ...     trajanon.read_release("anonymized.parquet")
    ... except trajanon.TrajanonError as error:
    ...     print(error)
    there is no anonymized.parquet; make it with: trajanon anonymize -k 4
    """

    __module__ = "trajanon"  # where people import errors from, and read them in a traceback

    def __init_subclass__(cls) -> None:
        cls.__module__ = "trajanon"

    def __str__(self) -> str:
        """Return the message, whatever the names in it hold."""
        return printable(super().__str__())


class BadInput(TrajanonError, ValueError):
    """An argument or the data given cannot be used.

    Examples
    --------
    >>> import trajanon
    >>> trajanon.microaggregate([[0.0], [1.0]], k=1)
    Traceback (most recent call last):
    trajanon.BadInput: k must be at least 2 (got 1): a group of 1 hides nobody
    """


class UnknownOption(BadInput, TypeError):
    """A function has no option of this name.

    Examples
    --------
    >>> import trajanon
    >>> trajanon.microaggregate([[0.0], [1.0]], k=2, sede=1)
    Traceback (most recent call last):
    trajanon.UnknownOption: microaggregate has no option `sede`: did you mean `seed`?
    """


class ColumnsUnclear(BadInput):
    """A table does not show which of its columns play some roles.

    Attributes
    ----------
    problem
        What is not clear, without the way out.
    roles
        The roles for which a column has to be named.
    columns
        The columns of the table; none if they are not known.
    table
        The table, if none of its columns is known to play these roles.

    Examples
    --------
    >>> import trajanon
    >>> error = trajanon.ColumnsUnclear("a.csv has no id", "name a column", ["id"], ["ride", "lat"])
    >>> print(error)
    a.csv has no id: name a column
    >>> error.problem, error.roles, error.columns
    ('a.csv has no id', ('id',), ('ride', 'lat'))
    """

    def __init__(
        self,
        problem: str,
        way_out: str,
        roles: Sequence[str] = (),
        columns: Sequence[str] = (),
        table: str = "",
    ) -> None:
        # Python pickles an error by these arguments.
        super().__init__(problem, way_out, tuple(roles), tuple(columns), table)
        self.problem = problem
        self.way_out = way_out
        self.roles = tuple(roles)
        self.columns = tuple(columns)
        self.table = table

    def __str__(self) -> str:
        """Return problem and way out, whatever the names in them hold."""
        return printable(f"{self.problem}: {self.way_out}")


class TooFewRecords(BadInput):
    """Fewer records than the group size k.

    Examples
    --------
    >>> import trajanon
    >>> trajanon.microaggregate([[0.0], [1.0]], k=3)
    Traceback (most recent call last):
    trajanon.TooFewRecords: 2 records cannot form a group of k = 3; lower k or add records
    """


class TooFewSubjects(BadInput):
    """Fewer different subjects than the group size k.

    Examples
    --------
    >>> import trajanon
    >>> try:
    ...     trajanon.microaggregate([[0.0], [1.0]], k=2, subjects=["Ada", "Ada"])
    ... except trajanon.TooFewSubjects as error:
    ...     print(str(error).partition(";")[0])
    the 2 records come from 1 subject, and k = 2 needs 2 different ones in each group
    """


class NoTrajectories(BadInput):
    """Nothing in the source became a trajectory.

    Examples
    --------
    >>> import trajanon
    >>> from trajanon.extract import Rules, cut
    >>> try:
    ...     cut([], Rules(spacing=100))
    ... except trajanon.NoTrajectories as error:
    ...     print(error)
    no trajectories: the source holds no track points
    """


class FileProblem(TrajanonError, OSError):
    """A file cannot be read, or cannot be written.

    Examples
    --------
    >>> import trajanon
    >>> trajanon.read_release("anonymized.csv")
    Traceback (most recent call last):
    trajanon.FileProblem: there is no anonymized.csv; make it with: trajanon anonymize -k 4
    """


class ServerProblem(TrajanonError, ConnectionError):
    """The OSM server cannot be reached, or refused the request.

    Examples
    --------
    What handles Python's lost connections handles this one, too:

    >>> import trajanon
    >>> try:
    ...     raise trajanon.ServerProblem("the server refused the request: try again tomorrow")
    ... except ConnectionError as error:
    ...     print(error)
    the server refused the request: try again tomorrow
    """


class TrajanonWarning(UserWarning):
    """Something in the data that the user should know; the work goes on.

    Attributes
    ----------
    kind
        What it is about, in a few words; the same for all things of a kind.
    about
        The file, frame or column; empty if it is about all.

    Examples
    --------
    All become errors, as ``python -W error`` does; or those of a category are not shown:

    >>> import warnings
    >>> import trajanon
    >>> warnings.simplefilter("error", trajanon.TrajanonWarning)
    >>> records, people = [[0.0], [1.0], [10.0], [11.0]], ["Ada", "ada ", "Bob", "Cem"]
    >>> try:
    ...     trajanon.microaggregate(records, k=2, subjects=people)
    ... except trajanon.MergedWarning as warning:
    ...     print(str(warning).partition(" from")[0])
    1 name differs
    >>> warnings.simplefilter("ignore", trajanon.MergedWarning)
    >>> trajanon.microaggregate(records, k=2, subjects=people).labels.tolist()
    [0, 1, 0, 1]
    """

    __module__ = "trajanon"

    def __init__(self, message: str, kind: str = "", about: str = "") -> None:
        super().__init__(printable(message))
        self.kind = kind
        self.about = about

    def __init_subclass__(cls) -> None:
        cls.__module__ = "trajanon"


class LeftOutWarning(TrajanonWarning):
    """Rows, points, recordings or files are left out.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> import trajanon
    >>> from trajanon.extract import from_frame
    >>> fixes = pd.DataFrame({"id": ["a", "a", None], "lat": 41.0, "lon": [2.0, 2.1, 2.2]})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     traces = list(from_frame(fixes))
    >>> print(caught[-1].category.__name__, caught[-1].message)
    LeftOutWarning left out of the frame, points without an id: 1
    """


class MergedWarning(TrajanonWarning):
    """Names that differ are counted as one person.

    Examples
    --------
    >>> import warnings
    >>> import trajanon
    >>> records, people = [[0.0], [1.0], [10.0], [11.0]], ["Ada", "ada ", "Bob", "Cem"]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     partition = trajanon.microaggregate(records, k=2, subjects=people)
    >>> caught[0].category.__name__
    'MergedWarning'
    """


class GuessedWarning(TrajanonWarning):
    """A column, a time or a coordinate is read as the data suggest, for nobody said how.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> import trajanon
    >>> from trajanon.extract import from_frame
    >>> fixes = pd.DataFrame({"id": "a", "time": [0, 60], "lat": 41.0, "lon": [2.0, 2.1]})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     traces = list(from_frame(fixes))
    >>> print(caught[0].category.__name__, caught[0].message)
    GuessedWarning the frame has times such as 0: read as seconds from an unknown beginning
    """


def warn(warning: TrajanonWarning) -> None:
    """Issue a warning at the line outside the package that led to it."""
    stack_level = 2  # of the caller, as `warnings` counts
    depth = 2
    frame = sys._getframe(1).f_back
    while frame is not None:
        depth += 1
        # Libraries stand between frames of the package: what called the outermost one counts.
        if frame.f_globals.get("__name__", "").startswith("trajanon."):
            stack_level = depth + 1
        frame = frame.f_back
    warnings.warn(warning, stacklevel=stack_level)
