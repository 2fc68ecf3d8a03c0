"""Templates: what is escaped, what a sentence looks like, and that no value may be missing."""

from pathlib import Path

import jinja2
import pytest

from trajanon.evaluation.page import templates
from trajanon.evaluation.page.templates import rendered, words

COUNTS: dict[str, object] = {
    "file": "cells.csv",
    "rows": "2 cells",
    "release": "release.parquet",
    "sha256": {"release.parquet": "0f"},
    "version": "1",
    "attribution": None,
    "paragraphs": ["<b>"],
}


def test_html_is_escaped_and_markdown_is_not() -> None:
    assert "<b>" in rendered("counts.md", **COUNTS)
    risk = {"audits": [], "numbers": {}, "tasks": [], "attacks": {}, "notice": "<b>"}
    page = rendered("comparison.html", **risk)
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_a_value_that_is_missing_is_an_error_and_no_blank() -> None:
    for name in COUNTS:
        some = {other: value for other, value in COUNTS.items() if other != name}
        with pytest.raises(jinja2.UndefinedError, match=f"'{name}' is undefined"):
            rendered("counts.md", **some)


def test_a_sentence_is_on_one_line() -> None:
    said = words("flows_of_one_line", alone=3, flows=4)
    assert said == " ".join(said.split())
    assert "3" in said


def test_a_page_of_markdown_ends_with_its_line() -> None:
    assert rendered("counts.md", **COUNTS).endswith("\n")


def test_all_templates_can_be_read() -> None:
    """Also those that no page of this version needs: a release ships them all."""
    environment = templates._environment(keep_trailing_newline=False)
    names = [path.name for path in Path(templates.__file__).parent.iterdir()]
    read = [name for name in names if name.endswith((".html", ".md", ".json"))]
    assert len(read) > 10
    for name in read:
        environment.get_template(name)
