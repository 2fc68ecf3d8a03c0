"""Templates of this folder, and how they write numbers and names."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from trajanon.common.number_text import metres, percent, span
from trajanon.common.plain_text import code_span
from trajanon.evaluation.publisher import markdown


def rendered(template: str, **values: Any) -> str:
    """Fill in a template of this folder; only HTML is escaped."""
    environment = Environment(
        loader=PackageLoader("trajanon.evaluation.page", ""),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=template.endswith(".md"),
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    environment.filters |= {"count": _count, "code": code_span, "markdown": markdown}
    environment.filters |= {"metres": metres, "percent": percent, "span": span, "tau": _tau}
    return environment.get_template(template).render(values)


def _count(number: int | None) -> str:
    return "not known" if number is None else f"{number:,}"


def _tau(agreement: float | None) -> str:
    return "–" if agreement is None else f"{agreement:.2f}"
