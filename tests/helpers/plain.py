"""Lines that are plain means, of people and with all else a release may have."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from trajanon.files import rounding_order_and_keys_of_lines as written_lines
from trajanon.release import plan

PUBLISHED = (
    "it holds plain means, made as published, for comparison with the papers, not for "
    "publication of persons' data"
)


@contextmanager
def unmoved() -> Iterator[None]:
    """Write plain means."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "holders_key", lambda _: None)
        yield


@contextmanager
def plain_means() -> Iterator[None]:
    """Write means as they are, to 7 decimals, and let them pass the check."""
    with unmoved(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(written_lines, "DIGITS", 7)
        yield
