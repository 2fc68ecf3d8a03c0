"""What can go wrong, as one small tree; each is also the error of Python that it is nearest to."""

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
    >>> from trajanon.common.errors import ColumnsUnclear
    >>> error = ColumnsUnclear("a.csv has no times", "name a column", ["time"], ["id", "when"])
    >>> print(error)
    a.csv has no times: name a column
    >>> error.problem, error.roles, error.columns
    ('a.csv has no times', ('time',), ('id', 'when'))
    """

    def __init__(
        self,
        problem: str,
        way_out: str,
        roles: Sequence[str] = (),
        columns: Sequence[str] = (),
        table: str = "",
    ) -> None:
        # As they are pickled.
        super().__init__(problem, way_out, tuple(roles), tuple(columns), table)
        self.problem = problem
        self.way_out = way_out
        self.roles = tuple(roles)
        self.columns = tuple(columns)
        self.table = table

    def __str__(self) -> str:
        """Return problem and way out, whatever the names in them hold."""
        return printable(f"{self.problem}: {self.way_out}")


ColumnsUnclear.__module__ = __name__  # processes that read files send it, and find it here


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
    ... except trajanon.common.errors.TooFewSubjects as error:
    ...     print(str(error).partition(";")[0])
    the 2 records come from 1 subject, and k = 2 needs 2 different ones in each group
    """


class NoTrajectories(BadInput):
    """Nothing in the source became a trajectory.

    Examples
    --------
    >>> from trajanon.common.errors import NoTrajectories
    >>> from trajanon.extract import Rules, cut
    >>> try:
    ...     cut([], Rules(spacing=100))
    ... except NoTrajectories as error:
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

    >>> from trajanon.common.errors import ServerProblem
    >>> try:
    ...     raise ServerProblem("the server refused the request: try again tomorrow")
    ... except ConnectionError as error:
    ...     print(error)
    the server refused the request: try again tomorrow
    """
