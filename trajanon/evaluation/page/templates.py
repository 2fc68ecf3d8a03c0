"""Templates of this folder, and how they write numbers and names."""

import json
from functools import cache, partial

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from trajanon.common.number_text import metres, number_of, percent, span
from trajanon.common.plain_text import code_span, markdown


def rendered(template: str, **values: object) -> str:
    """Fill in a template of this folder; only HTML is escaped."""
    environment = _environment(keep_trailing_newline=not template.endswith(".html"))
    return environment.get_template(template).render(values)


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
    environment.filters |= {
        "metres": metres,
        "percent": percent,
        "span": span,
        "tau": _tau,
        "number_of": number_of,
    }
    return environment


def _count(number: int | None) -> str:
    return "not known" if number is None else f"{number:,}"


def _tau(agreement: float | None) -> str:
    return "–" if agreement is None else f"{agreement:.2f}"
