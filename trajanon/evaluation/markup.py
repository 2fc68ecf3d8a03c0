"""Pieces of a page: every text that comes in is escaped, every bar is drawn here."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

_BINS = 30


def section(title: str, *parts: str) -> str:
    """Put parts under a title."""
    inside = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{escape(title)}</h2>\n{inside}\n</section>"


def paragraph(text: str, kind: str = "") -> str:
    """Write a paragraph, of a class if one is named."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table whose first column names things, and the others hold numbers."""
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in header)
    body = "\n".join(
        f"<tr><th scope=row>{escape(name)}</th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    return (
        '<div class="wide"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def bar(name: str, value: float, told: str, *, of: float, mark: float | None) -> str:
    """Draw a value as a bar below its name, perhaps with a mark to compare it with.

    Parameters
    ----------
    name, told
        What it is, and the value in words.
    value, mark
        Where the bar ends, and the mark stands; both up to ``of``.
    of
        The value of a full bar.
    """
    width = 100.0 * min(max(value / of, 0.0), 1.0) if of else 0.0
    drawn = f'<rect class="bar" width="{width:.2f}" height="10"/>'
    if mark is not None:
        at = min(100.0 * mark / of, 99.4)
        drawn += f'<rect class="mark" x="{at:.2f}" width="0.6" height="10"/>'
        kind = " above" if value > mark + 1e-9 else ""
    else:
        kind = ""
    return (
        f'<div class="row{kind}"><span>{escape(name)}</span><b>{escape(told)}</b>'
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(told)}"><rect class="all" width="100" height="10"/>'
        f"{drawn}</svg></div>"
    )


def histogram(values: NDArray[np.float64], unit: str) -> str:
    """Draw how often values occur, up to their 99th percentile."""
    most = float(np.percentile(values, 99)) or 1.0
    counts, edges = np.histogram(np.minimum(values, most), bins=_BINS, range=(0, most))
    height = 40.0 / counts.max()
    width = 100.0 / _BINS
    bars = "".join(
        f'<rect class="bar" x="{i * width:.2f}" y="{40 - count * height:.2f}" '
        f'width="{width * 0.9:.2f}" height="{count * height:.2f}"/>'
        for i, count in enumerate(counts.tolist())
    )
    return (
        '<figure><svg class="histogram" viewBox="0 0 100 40" '
        f'preserveAspectRatio="none" role="img" aria-label="histogram">{bars}</svg>'
        f"<figcaption><span>0</span><span>{edges[-1]:,.0f} {escape(unit)} and more"
        "</span></figcaption></figure>"
    )
