"""Lines that are plain means, of people and with all else a release may have."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from trajanon.privacy import findings
from trajanon.settings import MOST_DIGITS, ReleaseSettings

PUBLISHED = (
    "it holds plain means, made as published, for comparison with the papers, not for "
    "publication of persons' data"
)


@contextmanager
def plain_means() -> Iterator[None]:
    """Write means as they are, and let them pass the check."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReleaseSettings, "digits", MOST_DIGITS)
        patch.setattr(findings, "DIGITS_ON_ROADS", MOST_DIGITS)
        yield
