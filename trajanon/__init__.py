"""k-anonymous GPS trajectories with the least information loss.

>>> import trajanon
>>> from trajanon.data import sample
>>> from trajanon.extract import extract
>>> trajectories = extract(sample(), "madrid")
>>> release = trajanon.anonymize(trajectories, k=4, effort="fast")
>>> release.write("anonymized.parquet")
>>> trajanon.check("anonymized.parquet", k=4).holds
True

Names are loaded when they are first used, so that ``trajanon --help`` waits for none of the
libraries beneath.
"""

from importlib import import_module
from typing import Any

from lazy_loader import attach_stub

_named, _, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("trajanon")
    if name in ("data", "extract", "maps"):
        return import_module(f"trajanon.{name}")
    return _named(name)


def __dir__() -> list[str]:
    return [*globals(), *__all__, "__version__"]
