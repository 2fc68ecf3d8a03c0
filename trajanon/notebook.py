"""What results show of themselves: a line of text, and a table in a notebook."""

from collections.abc import Sequence
from html import escape


def shown(name: str, said: Sequence[str]) -> str:
    """Write the `repr` of a result.

    >>> shown("Release", ["8 rows", "4 lines"])
    '<Release: 8 rows; 4 lines>'
    """
    return f"<{name}: {'; '.join(one.rstrip('.') for one in said)}>"


def page(rows: Sequence[tuple[str, str]], note: str = "") -> str:
    """Lay out a table of texts, with a note above.

    >>> page([("k", "4 <subjects>")])
    '<div><table><tr><th>k</th><td>4 &lt;subjects&gt;</td></tr></table></div>'
    """
    above = f"<p>{escape(note)}</p>" if note else ""
    cells = (f"<tr><th>{escape(one)}</th><td>{escape(other)}</td></tr>" for one, other in rows)
    return f"<div>{above}<table>{''.join(cells)}</table></div>"
