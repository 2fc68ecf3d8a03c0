"""A small synthetic set of GPS traces, to try everything without a network: see the README."""

from pathlib import Path

__all__ = ["sample"]


def sample() -> Path:
    """Folder of the bundled pages, page000.gpx.gz and so on.

    Examples
    --------
    >>> from trajanon.data import sample
    >>> sorted(page.name for page in sample().iterdir())[:2]
    ['page000.gpx.gz', 'page001.gpx.gz']
    """
    return Path(__file__).parent / "sample"
