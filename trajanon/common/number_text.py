"""What people read of results: numbers with units, stages in words, and tables of notebooks."""

from collections.abc import Sequence
from html import escape
from typing import Literal

STAGES = {  # of a search, in words
    "path": "a short path through all {units}",
    "MHM": "the optimal cut of that path into groups (MHM)",
    "descent": "descent by moves of records and groups",
    "annealing": "annealing by random moves",
    "alignment": "windows slid on their own tracks towards their groups",
}


UnitName = Literal["trip", "day", "trajectory"]
"""What one trajectory is."""

UNITS = {"trajectory": "trajectories", "trip": "trips", "day": "days"}
"""What a release is made of, one and several."""


def metres(distance: float) -> str:
    """Write metres.

    >>> metres(1234.5), metres(2.04), metres(0.0), metres(47_403.0)
    ('1,234 m', '2.0 m', '0 m', '47.4 km')
    """
    if distance == 0.0:
        return "0 m"
    if distance >= 9_999.5:
        return f"{distance / 1000:,.1f} km"
    return f"{distance:,.0f} m" if distance >= 9.95 else f"{distance:.1f} m"


def span(seconds: float) -> str:
    """Write a time that passes.

    >>> span(0.0), span(42.4), span(90.0), span(754.0), span(7_620.0), span(7_200.0)
    ('0 s', '42 s', '1.5 min', '13 min', '2 h 7 min', '2 h')
    """
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = seconds / 60.0
    if minutes < 9.95:
        return f"{minutes:.1f}".removesuffix(".0") + " min"
    if minutes < 99.5:
        return f"{minutes:.0f} min"
    hours, beyond = divmod(round(minutes), 60)
    return f"{hours:,} h {beyond} min" if beyond else f"{hours:,} h"


def percent(share: float, digits: int = 3) -> str:
    """Write a share of 1 in percent, without an exponent.

    >>> percent(0.25), percent(0.061234), percent(1.0), percent(0.0), percent(83.4)
    ('25 %', '6.12 %', '100 %', '0 %', '8,340 %')
    """
    value = 100.0 * share
    if value >= 10**digits - 0.5:
        return f"{value:,.0f} %"
    from decimal import Decimal  # --help does not wait for it

    return f"{Decimal(f'{value:.{digits}g}'):f} %"


def two_digits(share: float) -> str:
    """Write a share of 1 in percent, with two digits."""
    return percent(share, 2)


def number_of(number: int, one: str, more: str = "") -> str:
    """Write a number with its noun, which takes an s unless ``more`` says otherwise.

    >>> number_of(1, "subject"), number_of(2_000, "trajectory", "trajectories")
    ('1 subject', '2,000 trajectories')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def enumerated(words: Sequence[str]) -> str:
    """Join words with commas and a last *and*.

    >>> enumerated(["a", "b", "c"]), enumerated(["a"])
    ('a, b and c', 'a')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def shown(name: str, facts: Sequence[str]) -> str:
    """Write the `repr` of a result.

    >>> shown("Release", ["8 rows", "4 lines"])
    '<Release: 8 rows; 4 lines>'
    """
    return f"<{name}: {'; '.join(fact.rstrip('.') for fact in facts)}>"


def page(rows: Sequence[tuple[str, str]], note: str = "") -> str:
    """Lay out a table of texts, with a note above.

    >>> page([("k", "4 <subjects>")])
    '<div><table><tr><th>k</th><td>4 &lt;subjects&gt;</td></tr></table></div>'
    """
    above = f"<p>{escape(note)}</p>" if note else ""
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<div>{above}<table>{''.join(cells)}</table></div>"


class Displayed:
    """A result that shows its facts in a line, and as a table in a notebook."""

    __slots__ = ()

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """List what is shown: each fact with its name."""
        raise NotImplementedError

    @property
    def _note(self) -> str:
        """Write what stands above the table."""
        return ""

    def __repr__(self) -> str:
        return shown(type(self).__name__, [fact for _, fact in self._facts])

    def _repr_html_(self) -> str:
        return page(self._facts, self._note)
