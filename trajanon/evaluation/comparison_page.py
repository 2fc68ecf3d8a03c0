"""The page and the figure on which releases of any programs stand side by side."""

from collections.abc import Sequence

from trajanon.evaluation.audit import ATTACKS, Audit
from trajanon.evaluation.evidence import NOTICE
from trajanon.evaluation.page.templates import rendered
from trajanon.evaluation.usefulness_for_tasks import TASKS


def page_of(audits: Sequence[Audit]) -> str:
    """Render one page for the holder: a table for protection, one for worth, and a figure."""
    return rendered("comparison.html", notice=NOTICE, **_shown(audits))


def figure_of(audits: Sequence[Audit]) -> str:
    """Draw errors of tasks beside the best attack, a panel for each task."""
    return rendered("comparison_figure.html", **_shown(audits))


def _shown(audits: Sequence[Audit]) -> dict[str, object]:
    """Return what the templates of both show."""
    return {
        "audits": audits,
        "numbers": {audit.name: number for number, audit in enumerate(audits, 1)},
        "tasks": TASKS,
        "attacks": ATTACKS,
    }
