"""Templates of this folder, and how they write numbers and names."""

import json
import re
from functools import cache, partial

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from trajanon.common.number_text import UNITS, metres, number_of, percent, span, two_digits
from trajanon.common.plain_text import code_span, markdown


def rendered(template: str, **values: object) -> str:
    """Fill in a template of this folder; only HTML is escaped."""
    environment = _environment(keep_trailing_newline=not template.endswith(".html"))
    return environment.get_template(template).render(values)


def words(sentence: str, **values: object) -> str:
    """Write what a macro of words.md says, on one line."""
    macros = _environment(keep_trailing_newline=False).get_template("words.md").module
    return re.sub("[ \n]+", " ", getattr(macros, sentence)(**values)).strip()


@cache
def _environment(*, keep_trailing_newline: bool) -> Environment:
    """Return what compiles templates, and keeps those that it has compiled."""
    environment = Environment(
        loader=PackageLoader("trajanon.evaluation.page", ""),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=keep_trailing_newline,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    environment.filters |= {"count": _count, "code": code_span, "markdown": markdown}
    environment.filters["quoted"] = partial(json.dumps, ensure_ascii=False)
    environment.globals |= {"two_digits": two_digits, "units_of": UNITS}
    for writer in (metres, percent, span, number_of):
        environment.filters[writer.__name__] = writer
    return environment


def _count(number: int | None) -> str:
    return "not known" if number is None else f"{number:,}"
